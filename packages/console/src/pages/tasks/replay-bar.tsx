/** Where a replay is, how fast it goes, and the way back to the whole. */
import type { LogRecord } from '../../api/admin.ts'
import { Icon } from '../../parts/icon.tsx'
import { Choice } from '../../parts/tabs.tsx'
import { duration } from '../../parts/words.ts'
import { indexOfSeq, timeOf } from './time-axis.ts'
import type { Replay, Speed } from './use-replay.ts'
import './replay-bar.css'

const speeds: readonly (readonly [Speed, string])[] = [
  ['1', '1×'],
  ['4', '4×'],
  ['16', '16×'],
]

export function ReplayBar({ replay, events }: { readonly replay: Replay; readonly events: readonly LogRecord[] }) {
  const { seq = 0, isPlaying, speed } = replay
  const event = events[indexOfSeq(events, seq)]
  const since = event === undefined ? 0 : timeOf(event) - timeOf(events[0])
  const isLast = seq >= (events.at(-1)?.seq ?? 0)
  return (
    <div class="replay-bar" role="group" aria-label="Replay">
      <button type="button" class="small" onClick={isPlaying ? replay.pause : replay.play}>
        <Icon name={isPlaying ? 'stop' : 'play'} size={14} />
        {isPlaying ? 'Pause' : isLast ? 'Replay' : 'Replay from here'}
      </button>
      <button type="button" class="small" disabled={isLast} onClick={replay.step}>
        <Icon name="next" size={14} />
        Step
      </button>
      <Choice label="Speed" value={speed} options={speeds} onChange={replay.setSpeed} />
      <span class="replay-place soft">
        as of event {seq} of {events.at(-1)?.seq}, +{duration(since)}
      </span>
      <button type="button" class="small plain" onClick={replay.end}>
        Show all
      </button>
    </div>
  )
}
