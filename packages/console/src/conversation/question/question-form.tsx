/**
 * What an agent asks, as a form. What is secret is masked, is nowhere but in the field while it is typed, and is gone from it as
 * soon as it is sent.
 */
import type { Json } from '@parley/a2a'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Json as JsonTree } from '../../parts/json.tsx'
import { answerByForm, answerInWords, answerWithCredentials, answerWithResults } from './answer-to.ts'
import type { Answer } from './answer-to.ts'
import { AuthNote } from './auth-note.tsx'
import { FieldInput } from './field-input.tsx'
import { readForm } from './form-of.ts'
import type { Field, Filled } from './form-of.ts'
import type { Question, ToolCall } from './question-in.ts'
import './question-form.css'

export interface QuestionFormProps {
  readonly question: Question
  readonly agent: string
  readonly isBusy: boolean
  readonly onAnswer: (answer: Answer) => void
  /** Where the question may be answered in plain words, too. */
  readonly onWords?: (() => void) | undefined
}

type Mistakes = Readonly<Record<string, string>>

export function QuestionForm({ question, agent, isBusy, onAnswer, onWords }: QuestionFormProps) {
  const frame = useRef<HTMLFormElement>(null)
  const mistakes = useSignal<Mistakes>({})
  const fields = fieldsOf(question)
  useEffect(() => focusFirst(frame.current), [])

  function send(event: Event): void {
    event.preventDefault()
    const form = frame.current
    if (form === null) return
    const read = readForm(fields, filledIn(form, fields))
    if ('mistakes' in read) {
      mistakes.value = read.mistakes
      form.querySelector<HTMLElement>(`[name="${CSS.escape(Object.keys(read.mistakes)[0] ?? '')}"]`)?.focus()
      return
    }
    mistakes.value = {}
    const scheme = new FormData(form).get(schemeName)
    onAnswer(answerOf(question, fields, read.data, typeof scheme === 'string' ? scheme : undefined))
    // Whatever was typed is gone, a secret above all.
    form.reset()
  }

  return (
    <form ref={frame} class="question" onSubmit={send} autocomplete="off" noValidate aria-label={`Answer ${agent}`}>
      {question.isAuth && <AuthNote question={question} agent={agent} />}
      {question.isInBand && question.schemes.length > 1 && <SchemeChoice question={question} />}
      {question.calls.map((call) => (
        <CallNote key={call.toolUseId} call={call} />
      ))}
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          isSecret={question.isSecret || field.isSecret}
          mistake={mistakes.value[field.name]}
        />
      ))}
      <div class="question-foot">
        <button type="submit" class="primary" disabled={isBusy}>
          Send
        </button>
        {onWords !== undefined && (
          <button type="button" class="plain" onClick={onWords}>
            Answer in plain words
          </button>
        )}
        {(question.isSecret || fields.some(({ isSecret }) => isSecret)) && (
          <span class="hint">The agent gets it. It is not kept, and not shown again.</span>
        )}
      </div>
    </form>
  )
}

const schemeName = '(scheme)'
const answerName = '(answer)'

/** The fields that the agent wants, or the one that every question has. */
function fieldsOf(question: Question): readonly Field[] {
  if (question.calls.length > 0) return question.calls.map(resultField)
  if (question.isInBand) return [plainField('Credentials')]
  return question.fields ?? [plainField(question.isSecret ? 'Your answer, masked' : 'Your answer')]
}

function plainField(label: string): Field {
  return { ...emptyField, name: answerName, label, isRequired: true }
}

function resultField({ toolUseId, name }: ToolCall): Field {
  return { ...emptyField, name: toolUseId, label: `Result of ${name}, as JSON`, kind: 'json', isRequired: true }
}

const emptyField: Omit<Field, 'name' | 'label' | 'isRequired'> = {
  hint: undefined,
  kind: 'text',
  type: 'text',
  isSecret: false,
  options: [],
  initial: '',
  chosen: [],
  schema: {},
}

function answerOf(
  question: Question,
  fields: readonly Field[],
  data: Readonly<Record<string, Json>>,
  scheme: string | undefined,
): Answer {
  if (question.calls.length > 0) return answerWithResults(data)
  const words = data[answerName]
  if (typeof words !== 'string') return answerByForm(question, fields, data)
  return question.isInBand
    ? answerWithCredentials(scheme ?? question.schemes[0]?.name, words)
    : answerInWords(question, words)
}

function filledIn(form: HTMLFormElement, fields: readonly Field[]): Filled {
  const given = new FormData(form)
  return Object.fromEntries(
    fields.map(({ name, kind }) => {
      const values = given.getAll(name).map((value) => (typeof value === 'string' ? value : ''))
      return [name, kind === 'choices' ? values : (values[0] ?? '')]
    }),
  )
}

/** Only for who is not in the middle of something else. */
function focusFirst(form: HTMLFormElement | null): void {
  const at = document.activeElement
  const isFree = at === null || at === document.body || at.id === 'content' || at.closest('.composer') !== null
  if (isFree) form?.querySelector<HTMLElement>('input, textarea, select')?.focus()
}

function SchemeChoice({ question }: { readonly question: Question }) {
  return (
    <div class="field">
      <label for="question-scheme">For</label>
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

function CallNote({ call }: { readonly call: ToolCall }) {
  return (
    <div class="question-call">
      <p>
        The agent calls the tool <code>{call.name}</code>, which runs at its client. Here you are the client:
      </p>
      <JsonTree value={call.input} open={2} />
    </div>
  )
}
