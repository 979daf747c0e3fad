/** A number with a unit: a duration, a size or a rate. A value of another form, such as a variable, is edited as text. */
import { useSignal } from '@preact/signals'
import type { SettingControlProps } from './setting-control-props.ts'
import type { SettingUnit } from './setting-fields.ts'
import { formatQuantity, parseQuantity, unitsOf } from './setting-values.ts'

const units = {
  ms: 'milliseconds',
  s: 'seconds',
  m: 'minutes',
  h: 'hours',
  d: 'days',
  B: 'bytes',
  kB: 'kB',
  MB: 'MB',
  GB: 'GB',
  '/s': 'per second',
  '/min': 'per minute',
  '/h': 'per hour',
  '/d': 'per day',
  none: 'no limit',
}

interface UnitControlProps extends SettingControlProps {
  readonly unit: SettingUnit
  readonly hasNone: boolean
}

const usualUnit: Readonly<Record<SettingUnit, string>> = { duration: 's', size: 'MB', rate: '/min' }

export function UnitControl({ field, id, value, isWrong, onValue, unit, hasNone }: UnitControlProps) {
  const usual = parseQuantity(field.default, unit)
  const known = parseQuantity(value, unit)
  /** Of an empty field: there is no value that could hold it. */
  const chosen = useSignal(usual?.unit ?? usualUnit[unit])
  const shared = { id, 'aria-invalid': isWrong, 'aria-describedby': `${id}-hint ${id}-mistakes` }
  if (value !== undefined && known === undefined) {
    return (
      <input
        {...shared}
        type="text"
        spellcheck={false}
        value={typeof value === 'string' ? value : ''}
        onInput={({ currentTarget }) => onValue(currentTarget.value === '' ? undefined : currentTarget.value)}
      />
    )
  }
  const at = known?.unit ?? chosen.value
  const change = (amount: string, next: string): void => {
    chosen.value = next
    onValue(formatQuantity({ amount, unit: next }))
  }
  return (
    <div class="row settings-unit">
      <input
        {...shared}
        type="number"
        min={0}
        step="any"
        placeholder={usual?.amount ?? ''}
        disabled={at === 'none'}
        value={known?.amount ?? ''}
        onInput={({ currentTarget }) => change(currentTarget.value, at)}
      />
      <select
        aria-label={`Unit of ${field.name}`}
        value={at}
        onChange={({ currentTarget }) => change(known?.amount ?? '', currentTarget.value)}
      >
        {[...unitsOf[unit], ...(hasNone ? ['none'] : [])].map((one) => (
          <option key={one} value={one} selected={one === at}>
            {units[one as keyof typeof units]}
          </option>
        ))}
      </select>
    </div>
  )
}
