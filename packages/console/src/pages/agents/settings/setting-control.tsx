/** The control of a setting, by its type. An empty control means that the setting is not in the file. */
import { CheckField } from '../../../components/form/form-fields.tsx'
import { MapControl } from './map-control.tsx'
import { SecretControl } from './secret-control.tsx'
import type { SettingControlProps } from './setting-control-props.ts'
import type { SettingControl } from './setting-fields.ts'
import { UnitControl } from './unit-control.tsx'

export function SettingControlView(props: SettingControlProps) {
  const { field, id, value, isWrong, onValue } = props
  const { control, defaultText = '' } = field
  const shared = { id, 'aria-invalid': isWrong, 'aria-describedby': `${id}-hint ${id}-mistakes` }
  switch (control.type) {
    case 'boolean':
    case 'choice':
      return <ChoiceControl {...props} options={control.type === 'boolean' ? [true, false] : control.options} />
    case 'choices':
      return <ChoicesControl {...props} options={control.options} />
    case 'number':
      return (
        <input
          {...shared}
          type="number"
          step={control.isInteger ? 1 : 'any'}
          min={control.min}
          max={control.max}
          placeholder={defaultText}
          value={typeof value === 'number' ? value : ''}
          onInput={({ currentTarget }) => onValue(currentTarget.value === '' ? undefined : currentTarget.valueAsNumber)}
        />
      )
    case 'unit':
      return <UnitControl {...props} unit={control.unit} hasNone={control.hasNone} />
    case 'list':
      return <ListControl {...props} isCommand={control.isCommand} />
    case 'map':
      return <MapControl {...props} isSecret={control.isSecret} hasOnlyText={control.hasOnlyText} />
    case 'secret':
      return <SecretControl id={id} name={field.name} value={value} isWrong={isWrong} onValue={onValue} />
    case 'text':
      return <TextControl {...props} isLong={control.isLong} />
    case 'group':
    case 'complex':
      return null
  }
}

function TextControl({
  field,
  id,
  value,
  isWrong,
  onValue,
  isLong,
}: SettingControlProps & { readonly isLong: boolean }) {
  const shared = {
    id,
    'aria-invalid': isWrong,
    'aria-describedby': `${id}-hint ${id}-mistakes`,
    placeholder: field.defaultText ?? '',
    value: typeof value === 'string' ? value : '',
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onValue(currentTarget.value === '' ? undefined : currentTarget.value),
  }
  if (!isLong) return <input {...shared} type="text" autocomplete="off" spellcheck={false} />
  return <textarea {...shared} rows={Math.min(12, Math.max(2, shared.value.split('\n').length))} dir="auto" />
}

function ChoiceControl({
  field,
  id,
  value,
  isWrong,
  onValue,
  options,
}: SettingControlProps & { readonly options: (SettingControl & { type: 'choice' })['options'] }) {
  const keyOf = (one: unknown): string => (typeof one === 'string' || typeof one === 'boolean' ? String(one) : '')
  const textOf = (one: unknown): string => (one === true ? 'Yes' : one === false ? 'No' : keyOf(one))
  const unset = field.default === undefined ? 'Not set' : `Default (${textOf(field.default)})`
  return (
    <select
      id={id}
      aria-invalid={isWrong}
      aria-describedby={`${id}-hint ${id}-mistakes`}
      value={keyOf(value)}
      onChange={({ currentTarget }) => onValue(options.find((one) => String(one) === currentTarget.value))}
    >
      <option value="" selected={value === undefined}>
        {unset}
      </option>
      {options.map((one) => (
        <option key={String(one)} value={String(one)} selected={one === value}>
          {textOf(one)}
        </option>
      ))}
    </select>
  )
}

/** Several of a few; all of the default are chosen until one changes. */
function ChoicesControl({
  field,
  value,
  onValue,
  options,
}: SettingControlProps & { readonly options: readonly string[] }) {
  const usual = Array.isArray(field.default) ? (field.default as readonly string[]) : []
  const chosen = Array.isArray(value) ? (value as readonly string[]) : usual
  return (
    <div class="row settings-choices">
      {options.map((one) => (
        <CheckField
          key={one}
          checked={chosen.includes(one)}
          onChange={(isOn) => onValue(isOn ? [...chosen, one] : chosen.filter((other) => other !== one))}
        >
          {one}
        </CheckField>
      ))}
      {value !== undefined && (
        <button type="button" class="small plain" onClick={() => onValue(undefined)}>
          Use default
        </button>
      )}
    </div>
  )
}

function ListControl({
  id,
  value,
  isWrong,
  onValue,
  isCommand,
}: SettingControlProps & { readonly isCommand: boolean }) {
  const items = Array.isArray(value) ? (value as readonly string[]) : []
  return (
    <textarea
      id={id}
      class="mono"
      rows={Math.max(2, items.length + 1)}
      spellcheck={false}
      aria-invalid={isWrong}
      aria-describedby={`${id}-hint ${id}-mistakes`}
      placeholder={isCommand ? 'The program and its arguments, one per line.' : 'One per line.'}
      value={items.join('\n')}
      onInput={({ currentTarget }) =>
        // A line that was just begun stays; the hub reports it if it stays empty.
        onValue(currentTarget.value === '' ? undefined : currentTarget.value.split('\n'))
      }
      onBlur={() => {
        const filled = items.filter((one) => one.trim() !== '')
        if (filled.length !== items.length) onValue(filled.length === 0 ? undefined : filled)
      }}
    />
  )
}
