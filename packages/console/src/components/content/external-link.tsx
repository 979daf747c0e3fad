/** A link to an address from an untrusted source: opens in a new tab without a referrer. An unsafe address is shown as text. */
import type { ComponentChildren } from 'preact'
import { safeHref } from './safe-href.ts'

export function ExternalLink({ to, children }: { readonly to: unknown; readonly children?: ComponentChildren }) {
  const href = safeHref(to)
  if (href === undefined) return <span>{children ?? String(to)}</span>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children ?? href}
    </a>
  )
}
