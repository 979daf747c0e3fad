/** One event: its number, when, what kind, how large, what it says; opened, all of it. */
import type { LogRecord } from '../../api/admin.ts'
import { Json } from '../../parts/json.tsx'
import { State } from '../../parts/state.tsx'
import { exact } from '../../parts/time.tsx'
import { bytes, duration } from '../../parts/words.ts'
import { stateIn, wordsOf } from './event-words.ts'
import { timeOf } from './time-axis.ts'

export interface EventRowProps {
  readonly event: LogRecord
  readonly startMs: number
  readonly isOpen: boolean
  readonly search: string
  readonly onToggle: () => void
}

export function EventRow({ event, startMs, isOpen, search, onToggle }: EventRowProps) {
  const { seq, at, type, isVisible, body } = event
  const state = stateIn(event)
  return (
    <div class={isOpen ? 'event open' : 'event'}>
      <button type="button" class="event-line" aria-expanded={isOpen} onClick={onToggle}>
        <span class="event-seq mono faint">{seq}</span>
        <span class="event-at soft" title={exact(new Date(at))}>
          +{duration(timeOf(event) - startMs)}
        </span>
        <span class={isVisible ? 'event-type' : 'event-type inner'}>{type}</span>
        <span class="event-words cut">
          {state !== undefined && <State state={state} />}
          <span class="cut">{wordsOf(event)}</span>
        </span>
        <span class="event-size faint">{bytes(event.bytes)}</span>
      </button>
      {isOpen && (
        <div class="event-body">
          <Json value={body} open={6} search={search} />
        </div>
      )}
    </div>
  )
}
