/** The foot of a conversation: a composer, or the form that the agent asks for; and how the next message goes. */
import type { Json, Part } from '@parley/a2a'
import { isRedacted } from '@parley/a2a'
import { useSignal } from '@preact/signals'
import { useActions } from '../../app/palette-state.ts'
import { setQuery } from '../../app/router.ts'
import { AuthNote } from '../../conversation/question/auth-note.tsx'
import { QuestionForm } from '../../conversation/question/question-form.tsx'
import { needsForm, questionIn } from '../../conversation/question/question-in.ts'
import type { Question } from '../../conversation/question/question-in.ts'
import { isWaiting } from '../../conversation/talk.ts'
import type { Talk } from '../../conversation/talk.ts'
import { copyText } from '../../parts/copy.tsx'
import { Composer } from './composer.tsx'
import { GrpcNote } from './grpc-note.tsx'
import { HowItGoes } from './how-it-goes.tsx'
import type { Play } from './play.ts'
import type { Slot } from './slots.ts'
import { toggleWire, whereNow } from './where.ts'
import type { Where } from './where.ts'
import { curlOf } from './wire/curl.ts'
import type { Exchange } from './wire/exchange.ts'
import type { WireLog } from './wire/wire-log.ts'

export interface ReplyProps {
  readonly play: Play
  readonly log: WireLog
  readonly agent: string
  /** Whether the agent may be called without credentials. */
  readonly isOpen: boolean
}

export function Reply({ play, log, agent, isOpen }: ReplyProps) {
  const where = whereNow()
  const slots = play.slots.value
  const { taskId } = play.place.value
  const isBusy = play.phase.value === 'sending' || play.phase.value === 'following'
  const open = slots.find(({ talk }) => talk.taskId === taskId && taskId !== undefined)
  const waiting = open !== undefined && isWaiting(open.talk.state) ? open : undefined
  const stranger = slots.find((slot) => slot.stranger !== undefined)?.stranger

  function send(parts: readonly Part[], secrets: readonly Json[] = []): void {
    setQuery({ text: undefined })
    play.send(parts, { ...where, taskId: waiting?.talk.taskId, secrets })
  }

  const last = lastSaid(slots)
  const retry = last === undefined || isBusy ? undefined : () => play.send(last, { ...where, taskId: undefined })
  const request = lastSend(log.exchanges.value)
  const asCurl = request === undefined ? undefined : () => curlOf(request, { isOpen })
  useActions([
    { title: 'Show or hide the wire', run: toggleWire },
    ...(asCurl === undefined ? [] : [{ title: 'Copy the last request as curl', run: () => void copyText(asCurl()) }]),
  ])
  if (stranger !== undefined) {
    return (
      <p class="reply-note">
        This conversation is one of <code>{stranger}</code>: you can read it, and only they can go on with it.
      </p>
    )
  }
  return (
    <div class="reply">
      <Target slots={slots} waiting={waiting} />
      {where.binding === 'GRPC' ? (
        <GrpcNote agent={agent} where={where} />
      ) : (
        <Field
          key={`${waiting?.talk.status?.message?.messageId ?? ''} ${where.text}`}
          agent={agent}
          where={where}
          talk={waiting?.talk}
          isBusy={isBusy}
          onSend={send}
          onCancel={() => void play.cancel(where)}
        />
      )}
      <HowItGoes where={where} retry={retry} asCurl={asCurl} cancel={cancelOf(waiting, play, where)} />
    </div>
  )
}

/** Of a task that waits; one that is at work is canceled where one writes. */
function cancelOf(waiting: Slot | undefined, play: Play, where: Where): (() => void) | undefined {
  return waiting === undefined || play.phase.value !== 'still' ? undefined : () => void play.cancel(where)
}

interface FieldProps {
  readonly agent: string
  readonly where: Where
  /** The task that waits for an answer. */
  readonly talk: Talk | undefined
  readonly isBusy: boolean
  readonly onSend: (parts: readonly Part[], secrets?: readonly Json[]) => void
  readonly onCancel: () => void
}

function Field({ agent, where, talk, isBusy, onSend, onCancel }: FieldProps) {
  const inWords = useSignal(false)
  const question = talk?.status === undefined ? undefined : questionIn(talk.status)
  if (question !== undefined && needsForm(question) && !inWords.value) {
    return (
      <QuestionForm
        question={question}
        agent={agent}
        isBusy={isBusy}
        onAnswer={({ parts, secrets }) => onSend(parts, secrets)}
        onWords={mayUseWords(question) ? () => (inWords.value = true) : undefined}
      />
    )
  }
  return (
    <>
      {question?.isAuth === true && <AuthNote question={question} agent={agent} />}
      <Composer
        agent={agent}
        label={question === undefined ? `Message ${agent}` : `Answer ${agent}`}
        initial={where.text}
        isBusy={isBusy}
        onSend={onSend}
        onCancel={onCancel}
      />
    </>
  )
}

/** A secret in a composer would be seen, and might be sent unmarked. */
function mayUseWords({ isSecret, fields = [] }: Question): boolean {
  return !isSecret && !fields.some((field) => field.isSecret)
}

function Target({ slots, waiting }: { readonly slots: readonly Slot[]; readonly waiting: Slot | undefined }) {
  const left = slots.findLast(({ talk }) => isWaiting(talk.state))
  if (waiting !== undefined) {
    return (
      <p class="reply-target">
        Your answer goes to the task that waits.
        <button type="button" class="small plain" onClick={() => setQuery({ task: undefined })}>
          New task instead
        </button>
      </p>
    )
  }
  if (left?.talk.taskId === undefined) return null
  return (
    <p class="reply-target">
      A new task in this conversation.
      <button type="button" class="small plain" onClick={() => setQuery({ task: left.talk.taskId })}>
        Answer the question instead
      </button>
    </p>
  )
}

/** The last message that can be said again: a secret cannot. */
function lastSaid(slots: readonly Slot[]): readonly Part[] | undefined {
  for (const { talk } of slots.toReversed()) {
    const item = talk.items.findLast((one) => one.kind === 'said' && one.message.role === 'ROLE_USER')
    if (item?.kind === 'said')
      return isRedacted(item.message) || isConcealed(item.message.parts) ? undefined : item.message.parts
  }
  return undefined
}

function isConcealed(parts: readonly Part[]): boolean {
  return JSON.stringify(parts).includes('"(not shown)"')
}

function lastSend(exchanges: readonly Exchange[]): Exchange | undefined {
  return exchanges.findLast(({ method, body }) => method === 'POST' && body?.includes('essage') === true)
}
