/** What is known of one span: when, how long, what it used, why it failed, where it leads, and what was logged meanwhile. */
import type { ComponentChildren } from 'preact'
import type { Span } from '../api/admin.ts'
import { setQuery } from '../app/router.ts'
import { Id } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { Json } from '../parts/json.tsx'
import { Fact, Facts } from '../parts/sheet.tsx'
import { Mark, State } from '../parts/state.tsx'
import { Clock } from '../parts/time.tsx'
import { cost, count, duration, many } from '../parts/words.ts'
import { childTaskOf, errorOf, lookOfSpan, stateOf, stretchOf, text, usedBy, wordsOf } from './span-tree.ts'
import './span-details.css'

export interface SpanDetailsProps {
  readonly span: Span
  /** Of the trace, in milliseconds since the epoch. */
  readonly start: number
  readonly now: number
  onClose(): void
}

export function SpanDetails({ span, start, now, onClose }: SpanDetailsProps) {
  const { sort, name } = wordsOf(span)
  const state = stateOf(span)
  const error = errorOf(span)
  return (
    <aside class="span-details" aria-label="Selected span">
      <header class="span-details-head">
        <h3 class="cut grow">
          <span class="span-details-sort">{sort}</span> {name}
        </h3>
        {state === undefined ? <Mark {...lookOfSpan(span)} /> : <State state={state} />}
        <button
          type="button"
          class="plain icon small"
          aria-label="Close the span"
          title="Close (Esc)"
          onClick={onClose}
        >
          <Icon name="close" size={14} />
        </button>
      </header>
      <div class="span-details-body">
        {error !== undefined && <p class="span-details-error">{error}</p>}
        <Ways span={span} />
        <Facts>
          <Times span={span} start={start} now={now} />
          <Uses span={span} />
          <Fact name="Span">
            <Id id={span.spanId} what="the id of the span" />
          </Fact>
        </Facts>
        <Part title="Attributes">
          <Json value={span.attributes} />
        </Part>
        <Events span={span} start={start} />
      </div>
    </aside>
  )
}

/** To its task, to the task that it led to, to the webhook. */
function Ways({ span }: { readonly span: Span }) {
  const child = childTaskOf(span)
  const configId = span.kind === 'push' ? text(span.attributes, 'configId') : undefined
  return (
    <p class="span-details-ways">
      {child !== undefined && (
        <a class="button small" href={`/tasks/${encodeURIComponent(child)}`}>
          Open the task of {wordsOf(span).name}
        </a>
      )}
      {configId !== undefined && (
        <a class="button small" href={`/push/${encodeURIComponent(span.taskId)}/${encodeURIComponent(configId)}`}>
          Open the webhook
        </a>
      )}
      <a class="button small" href={`/tasks/${encodeURIComponent(span.taskId)}`}>
        {child === undefined ? 'Open its task' : 'Open the task that called'}
      </a>
      <button type="button" class="small" onClick={() => setQuery({ zoom: span.spanId })}>
        Zoom to it
      </button>
    </p>
  )
}

function Times({ span, start, now }: { readonly span: Span; readonly start: number; readonly now: number }) {
  const { from, to } = stretchOf(span, now)
  return (
    <>
      <Fact name="Began">
        <Clock at={span.startedAt} /> <span class="faint">after {duration(from - start)}</span>
      </Fact>
      <Fact name={span.endedAt === undefined ? 'Runs for' : 'Took'}>{duration(to - from)}</Fact>
    </>
  )
}

function Uses({ span }: { readonly span: Span }) {
  const { inputTokens, outputTokens, cost: paid } = usedBy(span)
  return (
    <>
      {inputTokens + outputTokens > 0 && (
        <Fact name="Tokens">
          {count(inputTokens)} in, {count(outputTokens)} out
        </Fact>
      )}
      {paid !== undefined && <Fact name="Cost">{cost(paid)}</Fact>}
    </>
  )
}

function Events({ span, start }: { readonly span: Span; readonly start: number }) {
  const { events, droppedEvents } = span
  if (events.length === 0) return null
  // The first and the last are kept; what is missing was in between.
  const half = droppedEvents > 0 ? Math.ceil(events.length / 2) : events.length
  const row = ({ seq, name, at, attributes }: Span['events'][number]) => (
    <tr key={seq}>
      <td class="span-details-number">
        <a href={`/tasks/${encodeURIComponent(span.taskId)}/events?event=${seq}`}>{seq}</a>
      </td>
      <td class="span-details-number">{duration(Date.parse(at) - start)}</td>
      <td>
        {name} <span class="faint">{aboutEvent(attributes)}</span>
      </td>
    </tr>
  )
  return (
    <Part title={`Events (${count(events.length + droppedEvents)})`}>
      <table class="data span-details-events">
        <thead>
          <tr>
            <th>Seq</th>
            <th>After</th>
            <th>What</th>
          </tr>
        </thead>
        <tbody>
          {events.slice(0, half).map(row)}
          {droppedEvents > 0 && (
            <tr>
              <td colSpan={3} class="faint">
                {many(droppedEvents, 'event')} in between {droppedEvents === 1 ? 'is' : 'are'} not part of the trace.
                The <a href={`/tasks/${encodeURIComponent(span.taskId)}/events`}>task’s log</a> has them.
              </td>
            </tr>
          )}
          {events.slice(half).map(row)}
        </tbody>
      </table>
    </Part>
  )
}

function aboutEvent(attributes: Span['attributes']): string {
  return Object.entries(attributes)
    .filter(([name]) => name !== 'seq')
    .map(([name, value]) =>
      name === 'state' ? String(value).replace('TASK_STATE_', '').toLowerCase() : `${name} ${String(value)}`,
    )
    .join(' · ')
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="span-details-part">
      <h4>{title}</h4>
      {children}
    </section>
  )
}
