/**
 * An agent's question as a form. A secret is masked, is held only by its field while it is typed, and is cleared as soon as it is
 * sent.
 */
import type { Json, TaskStatus } from '@parley/a2a'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { JsonTreeView } from '../../components/content/json-tree.tsx'
import { answerWithForm, answerWithText, answerWithCredentials, answerWithResults } from './build-answer.ts'
import type { QuestionAnswer } from './build-answer.ts'
import { FieldInput } from './field-input.tsx'
import { parseForm, type FormField, type FormValues } from './schema-form.ts'
import { needsForm, parseQuestion, type AgentQuestion, type ClientToolCall } from './parse-question.ts'
import { AuthNote } from './auth-note.tsx'
import './question-form.css'

export interface QuestionFormProps {
  readonly question: AgentQuestion
  readonly agent: string
  readonly isBusy: boolean
  readonly onAnswer: (answer: QuestionAnswer) => void
  /** Set if the question may also be answered with plain text. */
  readonly onAnswerInText?: (() => void) | undefined
}

type Mistakes = Readonly<Record<string, string>>

export function QuestionForm({ question, agent, isBusy, onAnswer, onAnswerInText }: QuestionFormProps) {
  const frame = useRef<HTMLFormElement>(null)
  const mistakes = useSignal<Mistakes>({})
  const fields = fieldsForQuestion(question)
  useEffect(() => focusFirst(frame.current), [])

  function send(event: Event): void {
    event.preventDefault()
    const form = frame.current
    if (form === null) return
    const read = parseForm(fields, readFormValues(form, fields))
    if ('mistakes' in read) {
      mistakes.value = read.mistakes
      form.querySelector<HTMLElement>(`[name="${CSS.escape(Object.keys(read.mistakes)[0] ?? '')}"]`)?.focus()
      return
    }
    mistakes.value = {}
    const scheme = new FormData(form).get(schemeName)
    onAnswer(buildAnswer(question, fields, read.data, typeof scheme === 'string' ? scheme : undefined))
    // Clears all input, above all a secret.
    form.reset()
  }

  return (
    <form
      ref={frame}
      class="stack question"
      onSubmit={send}
      autocomplete="off"
      noValidate
      aria-label={`Answer ${agent}`}
    >
      {question.isAuth && <AuthNote question={question} agent={agent} />}
      {question.isInBand && question.schemes.length > 1 && <SchemeChoice question={question} />}
      <QuestionFields question={question} fields={fields} mistakes={mistakes.value} />
      <div class="bar question-foot">
        <button type="submit" class="primary" disabled={isBusy}>
          Send
        </button>
        {onAnswerInText !== undefined && (
          <button type="button" onClick={onAnswerInText}>
            Answer in text instead
          </button>
        )}
        {(question.isSecret || fields.some(({ isSecret }) => isSecret)) && (
          <span class="hint">Sent to the agent only. It is not stored and not shown again.</span>
        )}
      </div>
    </form>
  )
}

interface QuestionFieldsProps {
  readonly question: AgentQuestion
  readonly fields: readonly FormField[]
  readonly mistakes?: Mistakes
}

function QuestionFields({ question, fields, mistakes = {} }: QuestionFieldsProps) {
  return (
    <>
      {question.calls.map((call) => (
        <ToolCallNote key={call.toolUseId} call={call} />
      ))}
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          isSecret={question.isSecret || field.isSecret}
          mistake={mistakes[field.name]}
        />
      ))}
    </>
  )
}

export interface OthersQuestionProps {
  readonly status: TaskStatus | undefined
  readonly agent: string
  /** The name of the caller that can answer. */
  readonly caller: string
}

/** What a task waits for that another caller has to answer: its fields, read-only, and who that is. */
export function OthersQuestion({ status, agent, caller }: OthersQuestionProps) {
  const question = status === undefined ? undefined : parseQuestion(status)
  if (question === undefined) return null
  return (
    <section class="stack panel panel-body question-others" aria-label={`${agent} waits for ${caller}`}>
      <p>
        Only <strong>{caller}</strong> can answer: the task belongs to this caller.
      </p>
      {question.isAuth && <AuthNote question={question} agent={agent} isReadOnly />}
      {needsForm(question) && (
        <fieldset class="stack question" disabled>
          <QuestionFields question={question} fields={fieldsForQuestion(question)} />
        </fieldset>
      )}
    </section>
  )
}

const schemeName = '(scheme)'
const answerName = '(answer)'

/** The fields that the agent defines, or the default text field. */
function fieldsForQuestion(question: AgentQuestion): readonly FormField[] {
  if (question.calls.length > 0) return question.calls.map(resultField)
  if (question.isInBand) return [plainField('Credentials')]
  return question.fields ?? [plainField(question.isSecret ? 'Your answer (masked)' : 'Your answer')]
}

function plainField(label: string): FormField {
  return { ...emptyField, name: answerName, label, isRequired: true }
}

function resultField({ toolUseId, name }: ClientToolCall): FormField {
  return { ...emptyField, name: toolUseId, label: `Result of ${name}, as JSON`, kind: 'json', isRequired: true }
}

const emptyField: Omit<FormField, 'name' | 'label' | 'isRequired'> = {
  hint: undefined,
  kind: 'text',
  type: 'text',
  isSecret: false,
  options: [],
  initial: '',
  chosen: [],
  schema: {},
}

function buildAnswer(
  question: AgentQuestion,
  fields: readonly FormField[],
  data: Readonly<Record<string, Json>>,
  scheme: string | undefined,
): QuestionAnswer {
  if (question.calls.length > 0) return answerWithResults(data)
  const words = data[answerName]
  if (typeof words !== 'string') return answerWithForm(question, fields, data)
  return question.isInBand
    ? answerWithCredentials(scheme ?? question.schemes[0]?.name, words)
    : answerWithText(question, words)
}

function readFormValues(form: HTMLFormElement, fields: readonly FormField[]): FormValues {
  const given = new FormData(form)
  return Object.fromEntries(
    fields.map(({ name, kind }) => {
      const values = given.getAll(name).map((value) => (typeof value === 'string' ? value : ''))
      return [name, kind === 'choices' ? values : (values[0] ?? '')]
    }),
  )
}

/** Does not take the focus from another field. */
function focusFirst(form: HTMLFormElement | null): void {
  const at = document.activeElement
  const isFree = at === null || at === document.body || at.id === 'content' || at.closest('.composer') !== null
  if (isFree) form?.querySelector<HTMLElement>(':is(input, textarea, select)')?.focus()
}

function SchemeChoice({ question }: { readonly question: AgentQuestion }) {
  return (
    <div class="field">
      <label for="question-scheme">Sign-in method</label>
      <select id="question-scheme" name={schemeName}>
        {question.schemes.map(({ name, what }) => (
          <option key={name} value={name}>
            {name} ({what})
          </option>
        ))}
      </select>
    </div>
  )
}

function ToolCallNote({ call }: { readonly call: ClientToolCall }) {
  return (
    <div class="question-call">
      <p>
        {'The agent calls the tool '}
        <code>{call.name}</code>, which runs on the client. You are the client here:
      </p>
      <JsonTreeView value={call.input} open={2} />
    </div>
  )
}
