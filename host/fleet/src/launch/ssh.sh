#!/bin/sh
# Starts an agent of the fleet {{ fleet }} on each machine, and says which are ready. SSH_OPTIONS has more options for ssh.
set -u
pass={{ pass }}
failed=0
for machine in {{ machines }}; do
  # shellcheck disable=SC2086
  if ssh ${SSH_OPTIONS:-} -o BatchMode=yes -- "$machine" {{ there }} < "$pass"; then :; else
    echo "$machine: no agent was started" >&2
    failed=1
  fi
done
exit "$failed"
