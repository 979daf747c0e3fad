/** Fields of forms, with their validation errors. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { FieldError } from './field-errors.ts'
import './form-fields.css'

/** Validation errors, each with its field. */
export function FieldErrorList({ id, mistakes }: { readonly id?: string; readonly mistakes: readonly FieldError[] }) {
  return (
    <div id={id} class="stack-tight field-errors" role={mistakes.length > 0 ? 'alert' : undefined}>
      {mistakes.map(({ field, text }) => (
        <p key={field + text} class="mistake">
          {field !== '' && <code>{field}</code>} {text}
        </p>
      ))}
    </div>
  )
}

export interface TextFieldProps {
  readonly id: string
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly placeholder?: string
  readonly hint?: string
  readonly mistakes?: readonly FieldError[]
  /** Has the focus at first. */
  readonly hasFocus?: boolean
}

export function TextField(props: TextFieldProps) {
  const { id, label, value, onValue, placeholder = '', hint, mistakes = [], hasFocus = false } = props
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (hasFocus) input.current?.focus()
  }, [])
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        ref={input}
        id={id}
        type="text"
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        value={value}
        aria-invalid={mistakes.length > 0}
        aria-describedby={hint === undefined ? `${id}-mistakes` : `${id}-hint ${id}-mistakes`}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <FieldErrorList id={`${id}-mistakes`} mistakes={mistakes.map((one) => ({ ...one, field: '' }))} />
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

export interface SelectFieldProps {
  /** The accessible name, if no visible label names the `id`. */
  readonly label?: string
  readonly id?: string
  readonly class?: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string, ...unknown[]])[]
  readonly onChange: (value: string) => void
}

export function SelectField({ label, id, class: look, value, options, onChange }: SelectFieldProps) {
  // The address may hold a value that the list does not offer.
  const all = options.some(([one]) => one === value) ? options : [...options, [value, value] as const]
  return (
    <select
      id={id}
      class={look}
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {all.map(([one, text]) => (
        <option key={one} value={one} selected={one === value}>
          {text}
        </option>
      ))}
    </select>
  )
}

export interface CheckFieldProps {
  readonly checked: boolean
  readonly onChange: (isOn: boolean) => void
  /** Makes it one of several of which one is chosen. */
  readonly radioGroup?: string
  readonly class?: string
  readonly children: ComponentChildren
}

export function CheckField({ checked, onChange, radioGroup, class: look = '', children }: CheckFieldProps) {
  const change = (event: { readonly currentTarget: HTMLInputElement }): void => onChange(event.currentTarget.checked)
  return (
    <label class={`check ${look}`}>
      {radioGroup === undefined ? (
        <input type="checkbox" checked={checked} onChange={change} />
      ) : (
        <input type="radio" name={radioGroup} checked={checked} onChange={change} />
      )}
      {children}
    </label>
  )
}
