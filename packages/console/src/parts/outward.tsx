/** A link that somebody else gave us: it opens elsewhere and says nothing of where one came from, or it is only a text. */
import type { ComponentChildren } from 'preact'
import { safeHref } from './safe-href.ts'

export function Outward({ to, children }: { readonly to: unknown; readonly children?: ComponentChildren }) {
  const href = safeHref(to)
  if (href === undefined) return <span>{children ?? String(to)}</span>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children ?? href}
    </a>
  )
}
