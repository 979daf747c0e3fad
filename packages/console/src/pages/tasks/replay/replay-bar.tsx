/** Position and speed of a replay, and a button to end it. */
import type { LogRecord } from '../../../api/admin.ts'
import { Icon } from '../../../components/icon.tsx'
import { SegmentedControl } from '../../../components/layout/tabs.tsx'
import { formatDuration } from '../../../components/format.ts'
import { eventIndexAtSeq, recordTimeMs } from '../timeline/event-axis.ts'
import type { Replay, ReplaySpeed } from './use-replay.ts'
import './replay-bar.css'

const speeds: readonly (readonly [ReplaySpeed, string])[] = [
  ['1', '1×'],
  ['4', '4×'],
  ['16', '16×'],
]

export function ReplayBar({ replay, events }: { readonly replay: Replay; readonly events: readonly LogRecord[] }) {
  const { seq = 0, isPlaying, speed } = replay
  const event = events[eventIndexAtSeq(events, seq)]
  const since = event === undefined ? 0 : recordTimeMs(event) - recordTimeMs(events[0])
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
      <SegmentedControl label="Speed" value={speed} options={speeds} onChange={replay.setSpeed} />
      <span class="replay-place soft">
        as of event {seq} of {events.at(-1)?.seq}, +{formatDuration(since)}
      </span>
      <button type="button" class="small plain" onClick={replay.end}>
        Show all
      </button>
    </div>
  )
}
