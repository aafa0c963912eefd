set -eu
umask 077
folder=${XDG_STATE_HOME:-$HOME/.local/state}/skillbench/{{ fleet }}
mkdir -p "$folder"
cat > "$folder/pass.fleet"
nohup {{ program }} fleet agent "$folder/pass.fleet" {{ arguments }} > "$folder/agent.log" 2>&1 < /dev/null &
agent=$!
tries=0
until grep -F "is ready, for the fleet" "$folder/agent.log"; do
  if kill -0 "$agent" 2>/dev/null && [ "$tries" -lt 120 ]; then
    tries=$((tries + 1))
    sleep 1
  else
    cat "$folder/agent.log" >&2
    exit 1
  fi
done
