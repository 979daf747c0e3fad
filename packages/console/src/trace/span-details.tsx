/** The details of one span: times, usage, error, links and logged events. */
import type { ComponentChildren } from 'preact'
import type { Span } from '../api/admin.ts'
import { setQuery } from '../app/router.ts'
import { CopyableId } from '../components/content/copy-button.tsx'
import { Icon } from '../components/icon.tsx'
import { JsonTreeView } from '../components/content/json-tree.tsx'
import { Fact, FactList } from '../components/layout/page-head.tsx'
import { StatusBadge, TaskStateBadge } from '../components/status/task-state.tsx'
import { ClockTime } from '../components/time.tsx'
import { formatCost, formatCount, formatDuration, pluralize } from '../components/format.ts'
import {
  spanChildTask,
  spanError,
  spanStatus,
  spanTaskState,
  spanTimeRange,
  stringAttribute,
  spanUsage,
  spanLabel,
} from './span-tree.ts'
import './span-details.css'

export interface SpanDetailsProps {
  readonly span: Span
  /** Start of the trace, in milliseconds since the epoch. */
  readonly start: number
  readonly now: number
  onClose(): void
}

export function SpanDetails({ span, start, now, onClose }: SpanDetailsProps) {
  const { type, name } = spanLabel(span)
  const state = spanTaskState(span)
  const error = spanError(span)
  return (
    <aside class="span-details" aria-label="Selected span">
      <header class="row span-details-head">
        <h3 class="cut grow">
          <span class="span-details-sort">{type}</span> {name}
        </h3>
        {state === undefined ? <StatusBadge {...spanStatus(span)} /> : <TaskStateBadge state={state} />}
        <button type="button" class="plain icon small" aria-label="Close span" title="Close (Esc)" onClick={onClose}>
          <Icon name="close" size={14} />
        </button>
      </header>
      <div class="fill span-details-body">
        {error !== undefined && <p class="failure">{error}</p>}
        <SpanLinks span={span} />
        <FactList>
          <TimeFacts span={span} start={start} now={now} />
          <UsageFacts span={span} />
          <Fact name="Span">
            <CopyableId id={span.spanId} what="span id" />
          </Fact>
        </FactList>
        <DetailsSection title="Attributes">
          <JsonTreeView value={span.attributes} />
        </DetailsSection>
        <Events span={span} start={start} />
      </div>
    </aside>
  )
}

/** Links to its task, to the child task and to the webhook. */
function SpanLinks({ span }: { readonly span: Span }) {
  const child = spanChildTask(span)
  const configId = span.kind === 'push' ? stringAttribute(span.attributes, 'configId') : undefined
  return (
    <p class="bar">
      {child !== undefined && (
        <a class="button small" href={`/tasks/${encodeURIComponent(child)}`}>
          Open task of {spanLabel(span).name}
        </a>
      )}
      {configId !== undefined && (
        <a class="button small" href={`/webhooks/${encodeURIComponent(span.taskId)}/${encodeURIComponent(configId)}`}>
          Open webhook
        </a>
      )}
      <a class="button small" href={`/tasks/${encodeURIComponent(span.taskId)}`}>
        {child === undefined ? 'Open task' : 'Open calling task'}
      </a>
      <button type="button" class="small" onClick={() => setQuery({ zoom: span.spanId })}>
        Zoom to span
      </button>
    </p>
  )
}

function TimeFacts({ span, start, now }: { readonly span: Span; readonly start: number; readonly now: number }) {
  const { from, to } = spanTimeRange(span, now)
  return (
    <>
      <Fact name="Started">
        <ClockTime at={span.startedAt} /> <span class="faint">after {formatDuration(from - start)}</span>
      </Fact>
      <Fact name={span.endedAt === undefined ? 'Running for' : 'Duration'}>{formatDuration(to - from)}</Fact>
    </>
  )
}

function UsageFacts({ span }: { readonly span: Span }) {
  const { inputTokens, outputTokens, cost: paid } = spanUsage(span)
  return (
    <>
      {inputTokens + outputTokens > 0 && (
        <Fact name="Tokens">
          {formatCount(inputTokens)} in, {formatCount(outputTokens)} out
        </Fact>
      )}
      {paid !== undefined && <Fact name="Cost">{formatCost(paid)}</Fact>}
    </>
  )
}

function Events({ span, start }: { readonly span: Span; readonly start: number }) {
  const { events, droppedEvents } = span
  if (events.length === 0) return null
  // The first and the last events are kept; the dropped ones were in between.
  const half = droppedEvents > 0 ? Math.ceil(events.length / 2) : events.length
  const row = ({ seq, name, at, attributes }: Span['events'][number]) => (
    <tr key={seq}>
      <td class="span-details-number">
        <a href={`/tasks/${encodeURIComponent(span.taskId)}/events?event=${seq}`}>{seq}</a>
      </td>
      <td class="span-details-number">{formatDuration(Date.parse(at) - start)}</td>
      <td>
        {name} <span class="faint">{eventAttributesText(attributes)}</span>
      </td>
    </tr>
  )
  return (
    <DetailsSection title={`Events (${formatCount(events.length + droppedEvents)})`}>
      <table class="data span-details-events">
        <thead>
          <tr>
            <th>Seq</th>
            <th>After</th>
            <th>Event</th>
          </tr>
        </thead>
        <tbody>
          {events.slice(0, half).map(row)}
          {droppedEvents > 0 && (
            <tr>
              <td colSpan={3} class="faint">
                {`${pluralize(droppedEvents, 'event')} in between ${droppedEvents === 1 ? 'is' : 'are'} not part of the trace. `}
                <a href={`/tasks/${encodeURIComponent(span.taskId)}/events`}>Open the log of the task</a>
              </td>
            </tr>
          )}
          {events.slice(half).map(row)}
        </tbody>
      </table>
    </DetailsSection>
  )
}

function eventAttributesText(attributes: Span['attributes']): string {
  return Object.entries(attributes)
    .filter(([name]) => name !== 'seq')
    .map(([name, value]) =>
      name === 'state' ? String(value).replace('TASK_STATE_', '').toLowerCase() : `${name} ${String(value)}`,
    )
    .join(' · ')
}

function DetailsSection({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="span-details-part">
      <h4 class="faint">{title}</h4>
      {children}
    </section>
  )
}
