/** A span of time of one's own. The address has it in UTC; the fields show it as the clock on the wall. */
import { setQuery } from '../../app/router.ts'

export function TimeFields({ since, until }: { readonly since: string; readonly until: string }) {
  return (
    <div class="task-span">
      <Field label="From" name="since" value={since} />
      <Field label="To" name="until" value={until} />
    </div>
  )
}

function Field({
  label,
  name,
  value,
}: {
  readonly label: string
  readonly name: 'since' | 'until'
  readonly value: string
}) {
  return (
    <label>
      <span class="faint">{label}</span>
      <input
        type="datetime-local"
        value={asLocal(value)}
        onChange={(event) => {
          const at = new Date(event.currentTarget.value)
          // Without the word "custom" an empty span would be any time, and the fields gone.
          setQuery({ time: 'custom', [name]: Number.isNaN(at.getTime()) ? undefined : at.toISOString() })
        }}
      />
    </label>
  )
}

function asLocal(instant: string): string {
  if (instant === '') return ''
  const at = new Date(instant)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
