/** A time filter: a preset, or a custom range. The address holds the range in UTC; the fields show local time. */
import { setQuery } from '../../app/router.ts'
import { SelectField } from './select-field.tsx'
import { timePresets } from './time-presets.ts'

export function TimeSelect({ time }: { readonly time: string }) {
  return (
    <SelectField
      label="Time"
      value={time}
      options={timePresets}
      onChange={(preset) => {
        const since = preset === 'custom' ? hourAgo() : undefined
        setQuery({ time: preset, since, until: undefined }, { push: true })
      }}
    />
  )
}

function hourAgo(): string {
  return new Date(Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000).toISOString()
}

export function TimeRangeFields({ since, until }: { readonly since: string; readonly until: string }) {
  return (
    <div class="task-span">
      <TimeField label="From" name="since" value={since} />
      <TimeField label="To" name="until" value={until} />
    </div>
  )
}

function TimeField({
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
        value={toLocalInputValue(value)}
        onChange={(event) => {
          const at = new Date(event.currentTarget.value)
          // Without `custom`, an empty range would mean any time and the fields would disappear.
          setQuery({ time: 'custom', [name]: Number.isNaN(at.getTime()) ? undefined : at.toISOString() })
        }}
      />
    </label>
  )
}

function toLocalInputValue(instant: string): string {
  if (instant === '') return ''
  const at = new Date(instant)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
