/** The fields of a kind's form: those that are needed, and the rest behind two folds. */
import type { Signal } from '@preact/signals'
import type { EntryField } from './entry-form.ts'
import { InlineWords } from './inline-words.tsx'
import type { Mistake } from './mistakes.ts'
import { Mistakes } from './mistake-list.tsx'
import './entry-fields.css'

interface FieldsProps {
  readonly fields: readonly EntryField[]
  readonly values: Signal<Readonly<Record<string, string>>>
  readonly mistakes: readonly Mistake[]
}

export function EntryFields(props: FieldsProps) {
  const { fields, mistakes } = props
  const of = (group: EntryField['group']) => fields.filter((field) => field.group === group)
  const isWrong = (group: EntryField['group']): boolean =>
    of(group).some(({ name }) => mistakesOf(name, mistakes).length > 0)
  return (
    <>
      <Group {...props} fields={of('needed')} />
      <details class="entry-more" open={isWrong('own') || of('needed').length === 0}>
        <summary>More settings</summary>
        <Group {...props} fields={of('own')} />
      </details>
      <details class="entry-more" open={isWrong('card')}>
        <summary>Card, limits and access</summary>
        <Group {...props} fields={of('card')} />
      </details>
    </>
  )
}

function Group({ fields, values, mistakes }: FieldsProps) {
  return (
    <div class="entry-fields">
      {fields.map((field) => (
        <Field key={field.name} field={field} values={values} mistakes={mistakesOf(field.name, mistakes)} />
      ))}
    </div>
  )
}

/** Also what is wrong inside of it. */
function mistakesOf(name: string, mistakes: readonly Mistake[]): readonly Mistake[] {
  return mistakes.filter(({ field }) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`))
}

interface FieldProps {
  readonly field: EntryField
  readonly values: FieldsProps['values']
  readonly mistakes: readonly Mistake[]
}

function Field({ field, values, mistakes }: FieldProps) {
  const { name, about, isRequired } = field
  const id = `entry-${name}`
  return (
    <div class="field">
      <label for={id}>
        {name} {isRequired && <span class="entry-needed">needed</span>}
      </label>
      <Control
        field={field}
        id={id}
        value={values.value[name] ?? ''}
        isWrong={mistakes.length > 0}
        onValue={(value) => (values.value = { ...values.value, [name]: value })}
      />
      <Mistakes
        id={`${id}-mistakes`}
        mistakes={mistakes.map((one) => (one.field === name ? { ...one, field: '' } : one))}
      />
      <p class="hint" id={`${id}-hint`}>
        <InlineWords text={about} /> {shapeHints[field.shape]}
      </p>
    </div>
  )
}

const shapeHints: Readonly<Partial<Record<EntryField['shape'], string>>> = {
  lines: 'One on each line.',
  json: 'As JSON.',
  command: 'As you would type it.',
}

interface ControlProps {
  readonly field: EntryField
  readonly id: string
  readonly value: string
  readonly isWrong: boolean
  readonly onValue: (value: string) => void
}

function Control({ field: { shape, options, usual }, id, value, isWrong, onValue }: ControlProps) {
  const said = { id, value, 'aria-invalid': isWrong, 'aria-describedby': `${id}-hint ${id}-mistakes` }
  const take = (event: { readonly currentTarget: { readonly value: string } }): void =>
    onValue(event.currentTarget.value)
  if (shape === 'choice' || shape === 'switch') {
    const offered = shape === 'switch' ? ['true', 'false'] : options
    return (
      <select {...said} onChange={take}>
        <option value="">{usual === '' ? '' : `${yesOrNo(usual)} (usual)`}</option>
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
        {...said}
        rows={rows}
        class={shape === 'long' ? '' : 'mono'}
        spellcheck={false}
        placeholder={usual}
        onInput={take}
      />
    )
  }
  if (shape === 'secret')
    return <input {...said} type="password" autocomplete="off" placeholder={usual} onInput={take} />
  return <input {...said} type="text" autocomplete="off" spellcheck={false} placeholder={usual} onInput={take} />
}

function yesOrNo(value: string): string {
  return value === 'true' ? 'yes' : value === 'false' ? 'no' : value
}
