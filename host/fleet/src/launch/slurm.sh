#!/bin/sh
# Agents of the fleet {{ fleet }}, each with a node to itself: sbatch THIS_FILE
#SBATCH --job-name=skillbench-{{ fleet }}
#SBATCH --array=0-{{ last }}
#SBATCH --nodes=1
#SBATCH --exclusive
# A node that is preempted is given another time, and the agent the minute before its time is over.
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
#SBATCH --open-mode=append
{% for option in options -%}
#SBATCH {{ option }}
{% endfor -%}
# A name stands for one machine: that of the node, not the number in the array.
exec {{ program }} fleet agent {{ pass }} --name "$SLURMD_NODENAME" {{ arguments }}
