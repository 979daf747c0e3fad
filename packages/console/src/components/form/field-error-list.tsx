/** Validation errors, each with its field. */
import type { FieldError } from './field-errors.ts'
import './field-error-list.css'

export function FieldErrorList({ id, mistakes }: { readonly id?: string; readonly mistakes: readonly FieldError[] }) {
  return (
    <div id={id} class="mistakes" role={mistakes.length > 0 ? 'alert' : undefined}>
      {mistakes.map(({ field, text }) => (
        <p key={field + text} class="mistake">
          {field !== '' && <code>{field}</code>} {text}
        </p>
      ))}
    </div>
  )
}
