#!/bin/sh
# Agents of the fleet {{ fleet }}, each with a node to itself: sbatch THIS_FILE
#SBATCH --job-name=skillbench-{{ fleet }}
#SBATCH --array=0-{{ last }}
#SBATCH --nodes=1
#SBATCH --exclusive
# A task that is preempted is put back. The agent is told a minute before its time is over.
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
#SBATCH --open-mode=append
{% for option in options -%}
#SBATCH {{ option }}
{% endfor -%}
# The agent gives its lot back, and Slurm ends the task: one that ended by itself would not be put back.
trap 'kill -TERM "$agent"; wait "$agent"; sleep 600' TERM
# A name stands for one machine: that of the node, not the number in the array.
{{ program }} fleet agent {{ pass }} --name "$SLURMD_NODENAME" {{ arguments }} &
agent=$!
wait "$agent"
