/** The foot of a conversation: a composer, or the form that the agent asks for; where the message goes; the request options. */
import { isInterrupted, type Json, type Part, isRedacted } from '@parley/a2a'
import { useSignal } from '@preact/signals'
import type { Agent } from '../../api/admin.ts'
import { usePaletteActions } from '../../app/palette-state.ts'
import { setQuery } from '../../app/router.ts'
import { needsForm, parseQuestion, type AgentQuestion } from '../../conversation/question/parse-question.ts'
import { isWorkingState, type Transcript } from '../../conversation/transcript.ts'
import { copyText } from '../../components/content/copy-button.tsx'
import { lazyView } from '../../components/layout/lazy-view.tsx'
import { Composer } from './composer/composer.tsx'
import { restoreDraft } from './composer/draft.ts'
import { GrpcNote } from './grpc-note.tsx'
import type { ChatSession } from './chat-session.ts'
import type { ConversationTask } from './conversation-tasks.ts'
import { toggleProtocol, playgroundParams, type PlaygroundParams } from './playground-params.ts'
import { exchangeCurl, type Exchange } from './protocol/exchange.ts'
import type { ProtocolLog } from './protocol/protocol-log.ts'
import { ReplyTarget } from './reply-target.tsx'
import { RequestOptionsBar } from './request-options-bar.tsx'

const loadForm = async () => import('../../conversation/question/question-form.tsx')
const QuestionForm = lazyView('the question', async () => (await loadForm()).QuestionForm)
const OthersQuestion = lazyView('the question', async () => (await loadForm()).OthersQuestion)
const AuthNote = lazyView(
  'the question',
  async () => (await import('../../conversation/question/auth-note.tsx')).AuthNote,
)

const sentWhileBusy = {
  queue: 'queued for the next turn',
  steer: 'sent to the running turn',
  reject: '',
}

export interface ReplyProps {
  readonly play: ChatSession
  readonly log: ProtocolLog
  readonly agent: string
  /** `undefined` if the hub did not list the agent. */
  readonly about: Agent | undefined
}

export function Reply({ play, log, agent, about }: ReplyProps) {
  const where = playgroundParams()
  const slots = play.tasks.value
  const { taskId } = play.location.value
  const isBusy = play.phase.value === 'sending' || play.phase.value === 'following'
  const open = slots.find(({ transcript }) => transcript.taskId === taskId && taskId !== undefined)
  const waiting = open !== undefined && isInterrupted(open.transcript.state) ? open : undefined
  // Once its stream has begun: before that, the task has no id to send to.
  const running = play.phase.value === 'following' && open !== undefined && isWorkingState(open.transcript.state)
  const whenBusy = running ? (about?.whenBusy ?? 'queue') : undefined
  const otherCaller = slots.find((slot) => slot.otherCaller !== undefined)?.otherCaller

  function send(parts: readonly Part[], secrets: readonly Json[] = []): void {
    setQuery({ text: undefined })
    if (whenBusy === undefined || taskId === undefined) {
      return play.send(parts, {
        ...where,
        taskId: waiting?.transcript.taskId,
        secrets,
        onSessionEnded: () => restoreDraft(agent, where.contextId ?? '', secrets.length > 0 ? '' : textOf(parts)),
      })
    }
    play.steer(taskId, parts, { ...where, note: sentWhileBusy[whenBusy] })
  }

  const last = lastSentParts(slots)
  const retry = last === undefined || isBusy ? undefined : () => play.send(last, { ...where, taskId: undefined })
  const request = lastSendRequest(log.exchanges.value)
  const asCurl = request === undefined ? undefined : () => exchangeCurl(request, { isOpen: about?.isOpen ?? false })
  usePaletteActions([
    { title: 'Show or hide the protocol', run: toggleProtocol },
    ...(asCurl === undefined ? [] : [{ title: 'Copy the last request as curl', run: () => void copyText(asCurl()) }]),
  ])
  if (otherCaller !== undefined) {
    const status = slots.findLast(({ transcript }) => isInterrupted(transcript.state))?.transcript.status
    if (status !== undefined) return <OthersQuestion status={status} agent={agent} caller={otherCaller} />
    return (
      <p class="stack-small reply-note">
        This conversation belongs to <strong>{otherCaller}</strong>. You can read it, but only this caller can continue
        it.
      </p>
    )
  }
  return (
    <div class="stack-small reply">
      <ReplyTarget slots={slots} waiting={waiting} whenBusy={whenBusy} />
      {where.binding === 'GRPC' ? (
        <GrpcNote agent={agent} where={where} />
      ) : (
        <ReplyField
          key={`${waiting?.transcript.status?.message?.messageId ?? ''} ${where.text}`}
          agent={agent}
          where={where}
          talk={waiting?.transcript}
          isBusy={isBusy}
          canSteer={whenBusy === 'queue' || whenBusy === 'steer'}
          onSend={send}
          onCancel={() => void play.cancel(where)}
        />
      )}
      <RequestOptionsBar where={where} retry={retry} asCurl={asCurl} cancel={cancelOf(waiting, play, where)} />
    </div>
  )
}

/** For a waiting task. A working task is canceled in the composer. */
function cancelOf(
  waiting: ConversationTask | undefined,
  play: ChatSession,
  where: PlaygroundParams,
): (() => void) | undefined {
  return waiting === undefined || play.phase.value !== 'still' ? undefined : () => void play.cancel(where)
}

interface FieldProps {
  readonly agent: string
  readonly where: PlaygroundParams
  /** The task that waits for an answer. */
  readonly talk: Transcript | undefined
  readonly isBusy: boolean
  /** A message to the running task is accepted. */
  readonly canSteer: boolean
  readonly onSend: (parts: readonly Part[], secrets?: readonly Json[]) => void
  readonly onCancel: () => void
}

function ReplyField({ agent, where, talk, isBusy, canSteer, onSend, onCancel }: FieldProps) {
  const inWords = useSignal(false)
  const question = talk?.status === undefined ? undefined : parseQuestion(talk.status)
  if (question !== undefined && needsForm(question) && !inWords.value) {
    return (
      <QuestionForm
        question={question}
        agent={agent}
        isBusy={isBusy}
        onAnswer={({ parts, secrets }) => onSend(parts, secrets)}
        onAnswerInText={canAnswerInText(question) ? () => (inWords.value = true) : undefined}
      />
    )
  }
  const label =
    isBusy && canSteer ? 'Message the running task' : question === undefined ? `Message ${agent}` : `Answer ${agent}`
  return (
    <>
      {question?.isAuth === true && <AuthNote question={question} agent={agent} />}
      <Composer
        agent={agent}
        context={where.contextId ?? ''}
        label={label}
        initial={where.text}
        isBusy={isBusy}
        canSend={!isBusy || canSteer}
        onSend={onSend}
        onCancel={onCancel}
      />
    </>
  )
}

/** A secret in the composer would be visible, and might be sent unmarked. */
function canAnswerInText({ isSecret, fields = [] }: AgentQuestion): boolean {
  return !isSecret && !fields.some((field) => field.isSecret)
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')
}

/** The last message that can be sent again; one with a secret cannot. */
export function lastSentParts(slots: readonly ConversationTask[]): readonly Part[] | undefined {
  for (const { transcript } of slots.toReversed()) {
    const item = transcript.items.findLast((one) => one.kind === 'said' && one.message.role === 'ROLE_USER')
    if (item?.kind === 'said')
      return isRedacted(item.message) || hasRedactedText(item.message.parts) ? undefined : item.message.parts
  }
  return undefined
}

function hasRedactedText(parts: readonly Part[]): boolean {
  return JSON.stringify(parts).includes('"(not shown)"')
}

function lastSendRequest(exchanges: readonly Exchange[]): Exchange | undefined {
  return exchanges.findLast(({ method, body }) => method === 'POST' && body?.includes('essage') === true)
}
