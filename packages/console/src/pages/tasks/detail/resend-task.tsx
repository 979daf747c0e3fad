/** Sends the first message again, edited or not, to this agent or another; the result is compared with the old one. */
import { useSignal } from '@preact/signals'
import type { Json, Message, Part } from '@parley/a2a'
import type { TaskDetail } from '../../../api/admin.ts'
import { useAgentList } from '../../../api/agents.ts'
import { Problem } from '../../../api/problem.ts'
import { sendMessage } from '../../../api/send-message.ts'
import { navigate } from '../../../app/router.ts'
import { SelectField } from '../../../components/form/form-fields.tsx'
import { useSubmit } from '../../../components/form/use-submit.ts'
import { Icon } from '../../../components/icon.tsx'
import { ErrorNotice } from '../../../components/status/error-notice.tsx'
import { compareHref } from '../task-links.ts'
import { a2aTaskOf } from './use-task.ts'

/** The message that created the task, if the log still has it. */
export function firstMessageOf(detail: TaskDetail): Message | undefined {
  return a2aTaskOf(detail).history?.find(({ role }) => role === 'ROLE_USER')
}

export function ResendTask({ detail }: { readonly detail: TaskDetail }) {
  const agents = useAgentList()
  const chosen = useSignal(detail.agent)
  const edits = useSignal<ReadonlyMap<number, string>>(new Map())
  const message = firstMessageOf(detail)
  const open = (agents.value.value ?? []).filter(({ state }) => state === 'open')
  const { isBusy, problem, onSubmit } = useSubmit(async () => {
    if (message === undefined) return
    const parts = message.parts.map((part, index) => editedPart(part, edits.value.get(index)))
    navigate(compareHref(detail.id, await resendMessage(chosen.value, { ...message, parts })))
  })

  if (message === undefined) return <p class="stack-small task-ask">The first message is no longer in the log.</p>
  return (
    <form class="stack-small task-ask" onSubmit={onSubmit}>
      <p>Sends the first message again, as you edit it, as a new task of yours, and compares the answers.</p>
      <div class="field">
        <label for="resend-agent">Agent</label>
        <SelectField
          id="resend-agent"
          value={chosen.value}
          options={open.map(({ name }) => [name, name])}
          onChange={(name) => (chosen.value = name)}
        />
      </div>
      {message.parts.map((part, index) => {
        const text = editableText(part)
        if (text === undefined) return null
        return (
          <label key={index} class="field">
            {'text' in part ? 'Message' : 'Data, as JSON'}
            <textarea
              rows={Math.min(12, text.split('\n').length + 2)}
              class={'text' in part ? '' : 'mono'}
              defaultValue={text}
              onInput={({ currentTarget }) => (edits.value = new Map(edits.value).set(index, currentTarget.value))}
            />
          </label>
        )
      })}
      {agents.problem.value !== undefined && <ErrorNotice reason={agents.problem.value} />}
      {problem !== undefined && <ErrorNotice reason={problem} />}
      <button type="submit" class="primary" disabled={isBusy || open.length === 0}>
        <Icon name="send" size={14} />
        Send and compare
      </button>
    </form>
  )
}

/** Files and links are sent as they are. */
function editableText(part: Part): string | undefined {
  if ('text' in part) return part.text
  return 'data' in part ? JSON.stringify(part.data, undefined, 2) : undefined
}

function editedPart(part: Part, text: string | undefined): Part {
  if (text === undefined) return part
  return 'text' in part ? { ...part, text } : { ...part, data: parseData(text) }
}

function parseData(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    throw new Problem('The data is not valid JSON. Correct it, then send.', {
      code: 'INVALID_PARAMS',
      request: '',
      cause,
    })
  }
}

interface SendMessageResponse {
  readonly result?: { readonly task?: { readonly id?: string } }
  readonly error?: { readonly message?: string }
}

/** Sends the message as a new task. Returns the id of the task as soon as it is known. */
export async function resendMessage(agent: string, message: Message): Promise<string> {
  const configuration = { returnImmediately: true }
  const { response, request } = await sendMessage({ agent, method: 'SendMessage', message, configuration })
  const { result, error } = (await response.json().catch(() => ({}))) as SendMessageResponse
  if (result?.task?.id !== undefined) return result.task.id
  const why = error?.message ?? `${agent} answered with status ${response.status} and created no task.`
  throw new Problem(why, { code: 'INTERNAL', status: response.status, request })
}
