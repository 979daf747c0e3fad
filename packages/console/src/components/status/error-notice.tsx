/** An error: what failed, why and what to do next, with details for support. */
import type { ComponentChildren } from 'preact'
import { toProblem } from '../../api/problem.ts'
import type { Resource } from '../../api/resource.ts'
import { CopyButton } from '../content/copy-button.tsx'
import { Icon } from '../icon.tsx'
import { Skeleton, type SkeletonShape } from '../layout/skeleton.tsx'
import { loadingStrings } from '../strings.ts'
import './error-notice.css'

export function ErrorNotice({ reason, retry }: { readonly reason: unknown; readonly retry?: () => void }) {
  const problem = toProblem(reason)
  const details = [problem.request, problem.status, problem.code, problem.message].filter(Boolean).join('\n')
  return (
    <div class="trouble failed" role="alert">
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
      <CopyButton text={details} label="Copy the details" />
    </div>
  )
}

/** Why something could not be loaded, or that it is loading; nothing once it is loaded. */
export function LoadState({
  of: { value, problem, reload },
  what,
  shape = 'rows',
}: {
  readonly of: Pick<Resource<unknown>, 'value' | 'problem' | 'reload'>
  readonly what: string
  readonly shape?: SkeletonShape
}) {
  if (problem.value !== undefined) return <ErrorNotice reason={problem.value} retry={reload} />
  return value.value === undefined ? <Loading what={what} shape={shape} /> : null
}

/** A warning that the user may have to act on. */
export function WarningNote({
  tone = 'waiting',
  children,
}: {
  readonly tone?: 'waiting' | 'failed'
  readonly children: ComponentChildren
}) {
  return (
    <div class={`agent-note ${tone}`}>
      <Icon name="warning" />
      <div class="grow">{children}</div>
    </div>
  )
}

/** An empty state: what would be here, and the one action that fills it. */
export function EmptyState({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="stack empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** A placeholder in the shape of what is loading. */
export function Loading({ what, shape = 'rows' }: { readonly what: string; readonly shape?: SkeletonShape }) {
  return <Skeleton label={loadingStrings.loading(what)} shape={shape} />
}
