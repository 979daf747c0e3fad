/** What went wrong, why, and what to do next; with the details for whoever is asked for help. */
import type { ComponentChildren } from 'preact'
import { problemOf } from '../api/problem.ts'
import { Copy } from './copy.tsx'
import { Icon } from './icon.tsx'
import './trouble.css'

export function Trouble({ reason, retry }: { readonly reason: unknown; readonly retry?: () => void }) {
  const problem = problemOf(reason)
  const details = [problem.request, problem.status, problem.code, problem.message].filter(Boolean).join('\n')
  return (
    <div class="trouble" role="alert">
      <Icon name="warning" />
      <div class="grow">
        <p>{problem.message}</p>
        {problem.violations.length > 0 && (
          <ul>
            {problem.violations.map(({ field, description }) => (
              <li key={field}>
                <code>{field}</code> {description}
              </li>
            ))}
          </ul>
        )}
      </div>
      {retry !== undefined && (
        <button type="button" class="small" onClick={retry}>
          Try again
        </button>
      )}
      <Copy text={details} label="Copy the details" />
    </div>
  )
}

/** Nothing is here yet: what would be, and the one thing that fills it. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** Said only after a moment, so that what is quick does not flicker. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what} …
    </p>
  )
}
