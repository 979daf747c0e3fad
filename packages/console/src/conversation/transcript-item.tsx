/** One item of a transcript, by its kind: a message, a status line, a question, an artifact or the end. */
import type { Artifact, Message, Part } from '@parley/a2a'
import { delegationExtension } from '@parley/a2a/internal'
import { CopyButton } from '../components/content/copy-button.tsx'
import { taskStateDisplay, TaskStateBadge } from '../components/status/task-state.tsx'
import { formatDuration, truncateMiddle } from '../components/format.ts'
import { PartView } from './part-view.tsx'
import { extensionMetadata, parseQuestion } from './question/parse-question.ts'
import { withoutFieldLines } from './question/question-text.ts'
import type { TranscriptItem, TranscriptItemOf } from './transcript.ts'

type ItemTimeElement = preact.JSX.Element

interface ItemBodyProps {
  readonly item: TranscriptItem
  readonly agent: string
  readonly isOwn: boolean
  readonly isBusy: boolean
  readonly time: ItemTimeElement
}

export function TranscriptItemBody({ item, agent, isOwn, isBusy, time }: ItemBodyProps) {
  switch (item.kind) {
    case 'said':
      return <MessageItem item={item} agent={agent} isOwn={isOwn} isBusy={isBusy} time={time} />
    case 'rerun':
      return (
        <>
          <span class="talk-line">Attempt {item.attempt}: the agent began again after a restart</span>
          {time}
        </>
      )
    case 'status':
      return <StatusLine item={item} time={time} />
    case 'asked':
      return <QuestionItem item={item} agent={agent} time={time} />
    case 'made':
      return <ArtifactItem artifact={item.artifact} isWhole={item.isWhole} agent={agent} time={time} />
    case 'ended':
      return <EndItem item={item} time={time} />
  }
}

interface ItemProps<Kind extends TranscriptItem['kind']> {
  readonly item: TranscriptItemOf<Kind>
  readonly time: ItemTimeElement
}

type MessageItemProps = ItemProps<'said'> & Pick<ItemBodyProps, 'agent' | 'isOwn' | 'isBusy'>

function MessageItem({ item, agent, isOwn, isBusy, time }: MessageItemProps) {
  const { message, isPending = false, note = '' } = item
  const byAgent = message.role !== 'ROLE_USER'
  const author = isOwn ? 'You' : 'Caller'
  return (
    <>
      <p class="row talk-head">
        <span class="talk-who">{byAgent ? agent : author}</span>
        {time}
        {note !== '' && <span class="talk-pending">{note}</span>}
        {isPending && <span class="talk-pending">{isBusy ? 'Sending…' : 'Not sent'}</span>}
      </p>
      <div class="stack-small talk-bubble">
        <Parts message={message} byAgent={byAgent} />
      </div>
    </>
  )
}

function Parts({ message, byAgent }: { readonly message: Message; readonly byAgent: boolean }) {
  return (
    <>
      {message.parts.map((part, index) => (
        <PartView key={index} part={part} byAgent={byAgent} />
      ))}
      <References message={message} />
    </>
  )
}

/** Links to the tasks that the message references. */
function References({ message }: { readonly message: Message }) {
  const to = extensionMetadata(message.metadata, delegationExtension)['agent']
  return (
    <>
      {(message.referenceTaskIds ?? []).map((id) => (
        <a key={id} class="talk-child" href={`/tasks/${encodeURIComponent(id)}`} title={id}>
          {typeof to === 'string' ? `${to} ` : ''}
          <span class="mono">{truncateMiddle(id)}</span>
        </a>
      ))}
    </>
  )
}

function StatusLine({ item, time }: ItemProps<'status'>) {
  return (
    <>
      <span class="talk-line">
        {item.message.parts.map((part, index) =>
          'text' in part ? <bdi key={index}>{part.text}</bdi> : <PartView key={index} part={part} byAgent={true} />,
        )}
        <References message={item.message} />
      </span>
      {time}
    </>
  )
}

function QuestionItem({ item, agent, time }: ItemProps<'asked'> & Pick<ItemBodyProps, 'agent'>) {
  const isAuth = item.state === 'TASK_STATE_AUTH_REQUIRED'
  const parts = questionParts(item)
  return (
    <>
      <p class="row talk-head">
        <span class="talk-who">{agent}</span>
        <TaskStateBadge state={item.state} />
        {time}
      </p>
      <div class="stack-small talk-bubble">
        {parts.map((part, index) => (
          <PartView key={index} part={part} byAgent={true} />
        ))}
        {parts.length === 0 && (
          <p>{isAuth ? 'The agent needs you to sign in.' : 'The agent needs more information.'}</p>
        )}
        {item.message !== undefined && <References message={item.message} />}
      </div>
    </>
  )
}

/** The structured parts of a question are shown as a form, where it is answered, and so are the lines that repeat its fields. */
function questionParts({ state, message }: TranscriptItemOf<'asked'>): readonly Part[] {
  const parts = (message?.parts ?? []).filter((part) => !('data' in part))
  const fields = message === undefined ? undefined : parseQuestion({ state, message })?.fields
  if (fields === undefined) return parts
  return parts.flatMap((part): readonly Part[] => {
    if (!('text' in part)) return [part]
    const text = withoutFieldLines(part.text, fields)
    return text === '' ? [] : [{ ...part, text }]
  })
}

interface ArtifactItemProps {
  readonly artifact: Artifact
  readonly isWhole: boolean
  readonly agent: string
  readonly time: ItemTimeElement
}

function ArtifactItem({ artifact, isWhole, agent, time }: ArtifactItemProps) {
  const { name, description, parts } = artifact
  const text = parts.map((part) => ('text' in part ? part.text : '')).join('')
  return (
    <article aria-label={name ?? `Answer from ${agent}`}>
      <p class="row talk-head">
        <span class="talk-who">{agent}</span>
        {name !== undefined && <span class="talk-name cut">{name}</span>}
        {time}
        {text !== '' && <CopyButton text={text} label="Copy text" />}
      </p>
      {description !== undefined && (
        <p class="talk-about" dir="auto">
          {description}
        </p>
      )}
      <div class={isWhole ? 'stack-small talk-bubble' : 'stack-small talk-bubble growing'}>
        {parts.map((part, index) => (
          <PartView key={index} part={part} byAgent={true} isWhole={isWhole || index < parts.length - 1} />
        ))}
      </div>
    </article>
  )
}

function EndItem({ item, time }: ItemProps<'ended'>) {
  const { state, message, tookMs } = item
  const { tone, shape, word } = taskStateDisplay(state)
  return (
    <>
      <span class={`talk-end ${tone}`}>
        <span aria-hidden="true">{shape}</span> {word}
        {tookMs !== undefined && <span class="faint"> in {formatDuration(tookMs)}</span>}
      </span>
      {time}
      {message !== undefined && (
        <div class={`talk-reason ${tone}`}>
          <Parts message={message} byAgent={true} />
        </div>
      )}
    </>
  )
}
