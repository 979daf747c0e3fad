/** Where the time of one task or of several went: one bar with a part for each, and their names. */
import type { TimeParts } from '../api/admin.ts'
import { formatDuration } from '../components/format.ts'
import './time-parts.css'

const parts: readonly (readonly [name: keyof TimeParts, text: string])[] = [
  ['queueMs', 'Until the first call'],
  ['firstModelMs', 'First model call'],
  ['modelMs', 'Other model calls'],
  ['toolsMs', 'Tools and agents'],
  ['otherMs', 'Rest of its turns'],
  ['waitingMs', 'Waiting for the caller'],
  ['deliveryMs', 'Webhooks'],
]

/** `tasks`: the number that `times` is the sum of; the average of each part is shown. */
export function TimePartsBar({ times, tasks = 1 }: { readonly times: TimeParts; readonly tasks?: number }) {
  const all = parts.reduce((sum, [name]) => sum + times[name], 0)
  if (all === 0) return null
  const shown = parts.filter(([name]) => times[name] > 0)
  return (
    <div class="time-parts" role="group" aria-label="Where the time went">
      <div class="time-parts-bar" aria-hidden="true">
        {shown.map(([name]) => (
          <span key={name} class={name} style={{ flexGrow: times[name] / all }} />
        ))}
      </div>
      <dl>
        {shown.map(([name, text]) => (
          <div key={name}>
            <dt>
              <span class={`time-parts-key ${name}`} aria-hidden="true" />
              {text}
            </dt>
            <dd>
              {formatDuration(times[name] / tasks)} <span class="faint">{Math.round((times[name] / all) * 100)} %</span>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
