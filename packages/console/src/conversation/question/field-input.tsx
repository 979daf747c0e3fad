/** One field of a form. The value is held by the DOM element only. */
import type { Json } from '@parley/a2a'
import { useId } from 'preact/hooks'
import type { FormField } from './schema-form.ts'

export interface FieldInputProps {
  readonly field: FormField
  readonly isSecret: boolean
  readonly mistake: string | undefined
}

export function FieldInput({ field, isSecret, mistake }: FieldInputProps) {
  const id = useId()
  const { label, hint, isRequired, kind } = field
  const about = [hint === undefined ? '' : `${id}-hint`, mistake === undefined ? '' : `${id}-mistake`].join(' ').trim()
  const isGroup = kind === 'choices'
  const title = (
    <>
      <bdi>{label}</bdi>
      {!isRequired && kind !== 'yes' && <span class="question-optional"> (optional)</span>}
    </>
  )
  const notes = (
    <>
      {hint !== undefined && (
        <p class="hint" dir="auto" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {mistake !== undefined && (
        <p class="mistake" id={`${id}-mistake`} role="alert">
          {mistake}
        </p>
      )}
    </>
  )
  if (isGroup) {
    return (
      <fieldset class="field question-choices">
        <legend>{title}</legend>
        <Choices field={field} />
        {notes}
      </fieldset>
    )
  }
  return (
    <div class={kind === 'yes' ? 'field question-yes' : 'field'}>
      <label for={id}>{title}</label>
      <Input id={id} field={field} isSecret={isSecret} about={about} isWrong={mistake !== undefined} />
      {notes}
    </div>
  )
}

interface InputProps {
  readonly id: string
  readonly field: FormField
  readonly isSecret: boolean
  readonly about: string
  readonly isWrong: boolean
}

function Input({ id, field, isSecret, about, isWrong }: InputProps) {
  const { name, kind, type, initial, options, isRequired, schema } = field
  const shared = {
    id,
    name,
    'aria-describedby': about === '' ? undefined : about,
    'aria-invalid': isWrong,
    'aria-required': isRequired,
  }
  if (isSecret) return <input {...shared} type="password" autocomplete="off" spellcheck={false} />
  if (kind === 'yes') return <input {...shared} type="checkbox" value="true" defaultChecked={initial === 'true'} />
  if (kind === 'choice') {
    return (
      <select {...shared}>
        {(!isRequired || initial === '') && <option value="">Choose…</option>}
        {options.map(({ value, text }) => (
          <option key={text} value={optionText(value)} selected={optionText(value) === initial}>
            {text}
          </option>
        ))}
      </select>
    )
  }
  if (kind === 'json' || kind === 'long') {
    return (
      <textarea
        {...shared}
        dir={kind === 'json' ? 'ltr' : 'auto'}
        rows={4}
        class={kind === 'json' ? 'mono' : ''}
        defaultValue={initial}
        spellcheck={kind === 'long'}
      />
    )
  }
  if (kind === 'number') {
    const step = schema['type'] === 'integer' ? 1 : 'any'
    return <input {...shared} type="number" step={step} defaultValue={initial} autocomplete="off" />
  }
  // The input types differ in roles and lists, which this input does not use.
  const written = { type } as { readonly type: 'text' }
  return <input {...shared} {...written} dir="auto" defaultValue={initial} autocomplete="off" />
}

function Choices({ field }: { readonly field: FormField }) {
  return (
    <>
      {field.options.map(({ value, text }) => {
        const word = optionText(value)
        return (
          <label key={text} class="question-choice">
            <input type="checkbox" name={field.name} value={word} defaultChecked={field.chosen.includes(word)} />
            <bdi>{text}</bdi>
          </label>
        )
      })}
    </>
  )
}

function optionText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
