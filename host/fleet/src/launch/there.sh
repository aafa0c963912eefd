set -eu
umask 077
# Several machines may have one home.
folder=${XDG_STATE_HOME:-$HOME/.local/state}/skillbench/{{ fleet }}/$(uname -n)
mkdir -p "$folder"
cat > "$folder/pass.fleet"
# A log of its own, in which nobody said anything before.
log=$folder/agent.$$.log
: > "$log"
nohup {{ program }} fleet agent "$folder/pass.fleet" {{ arguments }} >> "$log" 2>&1 < /dev/null &
agent=$!
tries=0
until grep -F "is ready, for the fleet" "$log"; do
  if kill -0 "$agent" 2>/dev/null && [ "$tries" -lt 120 ]; then
    tries=$((tries + 1))
    sleep 1
  else
    cat "$log" >&2
    exit 1
  fi
done
