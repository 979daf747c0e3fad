/** The form fields of an agent kind: required ones first, the rest in two collapsed groups. */
import type { Signal } from '@preact/signals'
import type { EntryField } from './entry-form.ts'
import { InlineCodeText } from '../../../agent/inline-code-text.tsx'
import type { FieldError } from '../../../components/form/field-errors.ts'
import { FieldErrorList } from '../../../components/form/form-fields.tsx'

interface EntryFieldsProps {
  readonly fields: readonly EntryField[]
  readonly values: Signal<Readonly<Record<string, string>>>
  readonly mistakes: readonly FieldError[]
}

export function EntryFields(props: EntryFieldsProps) {
  const { fields, mistakes } = props
  const of = (group: EntryField['group']) => fields.filter((field) => field.group === group)
  const isWrong = (group: EntryField['group']): boolean =>
    of(group).some(({ name }) => errorsOfField(name, mistakes).length > 0)
  return (
    <>
      <Group {...props} fields={of('needed')} />
      <details class="entry-more" open={isWrong('own') || of('needed').length === 0}>
        <summary>{of('needed').length === 0 ? 'Settings' : 'More settings'}</summary>
        <Group {...props} fields={of('own')} />
      </details>
      <details class="entry-more" open={isWrong('card')}>
        <summary>Card, limits and access</summary>
        <Group {...props} fields={of('card')} />
      </details>
    </>
  )
}

function Group({ fields, values, mistakes }: EntryFieldsProps) {
  return (
    <div class="entry-fields">
      {fields.map((field) => (
        <Field key={field.name} field={field} values={values} mistakes={errorsOfField(field.name, mistakes)} />
      ))}
    </div>
  )
}

/** Includes errors of nested members. */
function errorsOfField(name: string, mistakes: readonly FieldError[]): readonly FieldError[] {
  return mistakes.filter(({ field }) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`))
}

interface FieldProps {
  readonly field: EntryField
  readonly values: EntryFieldsProps['values']
  readonly mistakes: readonly FieldError[]
}

function Field({ field, values, mistakes }: FieldProps) {
  const { name, about, isRequired } = field
  const id = `entry-${name}`
  return (
    <div class="field">
      <label for={id}>
        {name} {isRequired && <span class="entry-needed">required</span>}
      </label>
      <Control
        field={field}
        id={id}
        value={values.value[name] ?? ''}
        isWrong={mistakes.length > 0}
        onValue={(value) => (values.value = { ...values.value, [name]: value })}
      />
      <FieldErrorList
        id={`${id}-mistakes`}
        mistakes={mistakes.map((one) => (one.field === name ? { ...one, field: '' } : one))}
      />
      <p class="hint" id={`${id}-hint`}>
        <InlineCodeText text={about} /> {shapeHints[field.shape]}
      </p>
    </div>
  )
}

const shapeHints: Readonly<Partial<Record<EntryField['shape'], string>>> = {
  lines: 'One per line.',
  json: 'As JSON.',
  command: 'As you would type it in a terminal.',
  secret: 'The hub keeps it encrypted; the file gets a reference.',
}

interface ControlProps {
  readonly field: EntryField
  readonly id: string
  readonly value: string
  readonly isWrong: boolean
  readonly onValue: (value: string) => void
}

function Control({ field: { shape, options, defaultText }, id, value, isWrong, onValue }: ControlProps) {
  const shared = { id, value, 'aria-invalid': isWrong, 'aria-describedby': `${id}-hint ${id}-mistakes` }
  const take = (event: { readonly currentTarget: { readonly value: string } }): void =>
    onValue(event.currentTarget.value)
  if (shape === 'choice' || shape === 'switch') {
    const offered = shape === 'switch' ? ['true', 'false'] : options
    return (
      <select {...shared} onChange={take}>
        <option value="">{defaultText === '' ? '' : `${yesOrNo(defaultText)} (default)`}</option>
        {offered.map((one) => (
          <option key={one} value={one}>
            {yesOrNo(one)}
          </option>
        ))}
      </select>
    )
  }
  if (shape === 'long' || shape === 'lines' || shape === 'json') {
    const rows = shape === 'json' || value.includes('\n') ? 3 : 2
    return (
      <textarea
        {...shared}
        rows={rows}
        class={shape === 'long' ? '' : 'mono'}
        spellcheck={false}
        placeholder={defaultText}
        onInput={take}
      />
    )
  }
  if (shape === 'secret')
    return <input {...shared} type="password" autocomplete="off" placeholder={defaultText} onInput={take} />
  return (
    <input {...shared} type="text" autocomplete="off" spellcheck={false} placeholder={defaultText} onInput={take} />
  )
}

function yesOrNo(value: string): string {
  return value === 'true' ? 'Yes' : value === 'false' ? 'No' : value
}
