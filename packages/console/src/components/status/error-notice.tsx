/** Failures and their neighbours: the one component for errors, and the states of loading, warning and emptiness. */
import type { ComponentChildren } from 'preact'
import type { TaskSummary } from '../../api/admin.ts'
import { toProblem } from '../../api/problem.ts'
import type { Resource } from '../../api/resource.ts'
import { CopyButton } from '../content/copy-button.tsx'
import { Icon } from '../icon.tsx'
import { Skeleton, type SkeletonShape } from '../layout/skeleton.tsx'
import { problemText } from './problem-text.ts'
import './error-notice.css'

export interface FailureNoticeProps {
  /** What failed, in one line. */
  readonly title: ComponentChildren
  /** The cause, for operators: the error as it was reported. */
  readonly cause?: ComponentChildren
  /** What to do about it. */
  readonly advice?: ComponentChildren
  /** Shows "Try again". */
  readonly retry?: (() => void) | undefined
  /** Further buttons and links. */
  readonly actions?: ComponentChildren
  /** Folded and copyable: a list is shown line by line. */
  readonly details?: string | readonly string[]
  /** `failed`: users are affected. `waiting`: it needs attention. */
  readonly tone?: 'failed' | 'waiting'
  /** False for a state that the page opens with, or that contains a countdown: screen readers do not interrupt for it. */
  readonly isLive?: boolean
  /** Accessible name of the notice if it is not live. */
  readonly label?: string
  /** Between the advice and the details. */
  readonly children?: ComponentChildren
}

/** A failure: what failed, the cause for operators, what to do, and the way to retry. */
export function FailureNotice({
  title,
  cause,
  advice,
  retry,
  actions,
  details,
  tone = 'failed',
  isLive = true,
  label,
  children,
}: FailureNoticeProps) {
  const hasActions = retry !== undefined || actions !== undefined
  return (
    <section class={`trouble ${tone}`} role={isLive ? 'alert' : 'group'} aria-label={label}>
      <Icon name="warning" />
      <div class="trouble-text">
        <p class="trouble-title">{title}</p>
        {cause !== undefined && <p class="trouble-cause">{cause}</p>}
        {advice !== undefined && <p class="trouble-advice">{advice}</p>}
        {children}
        {details !== undefined && <FailureDetails details={details} />}
      </div>
      {hasActions && (
        <div class="bar trouble-actions">
          {retry !== undefined && (
            <button type="button" class="small" onClick={retry}>
              Try again
            </button>
          )}
          {actions}
        </div>
      )}
    </section>
  )
}

function FailureDetails({ details }: { readonly details: string | readonly string[] }) {
  const text = typeof details === 'string' ? details : details.join('\n')
  return (
    <details class="trouble-details">
      <summary>Details</summary>
      <div class="trouble-raw">
        <pre tabIndex={0}>{text}</pre>
        <CopyButton text={text} label="Copy details" />
      </div>
    </details>
  )
}

/** Leads to the delegated task that failed a task. */
export function FailedChildLink({ failedChild }: { readonly failedChild: TaskSummary['failedChild'] | undefined }) {
  if (failedChild === undefined) return null
  return (
    <a class="button small" href={`/tasks/${failedChild.taskId}`}>
      Open task of {failedChild.agent}
    </a>
  )
}

/** The failure of a request to the hub, explained by its code. */
export function ErrorNotice({
  reason,
  retry,
}: {
  readonly reason: unknown
  readonly retry?: (() => void) | undefined
}) {
  const problem = toProblem(reason)
  return (
    <FailureNotice {...problemText(problem)} retry={retry}>
      {problem.violations.length > 0 && (
        <ul class="stack-tight">
          {problem.violations.map(({ field, description }) => (
            <li key={field}>
              <code>{field}</code> {description}
            </li>
          ))}
        </ul>
      )}
    </FailureNotice>
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
  return <Skeleton label={`Loading ${what}…`} shape={shape} />
}
