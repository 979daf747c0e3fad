/** What is wrong, each with its field. */
import type { Mistake } from './mistakes.ts'
import './mistake-list.css'

export function Mistakes({ id, mistakes }: { readonly id?: string; readonly mistakes: readonly Mistake[] }) {
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
