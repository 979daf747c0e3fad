/** Permission requests of the agent as questions to the caller. */
import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import type { Turn } from '@parley/a2a'
import { approvalMessage, optionOfKind, parseOption, type ApprovalQuestion } from '@parley/a2a/internal'
import type { AcpEntry } from './entry.ts'

export const cancelledPermission: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } }

const selectedPermission = (optionId: string): RequestPermissionResponse => ({
  outcome: { outcome: 'selected', optionId },
})

export function questionFromRequest({ toolCall, options }: RequestPermissionRequest): ApprovalQuestion {
  const title = (toolCall.title ?? '').trim()
  return {
    title: title === '' ? 'The agent wants to use a tool' : title,
    options: options.map(({ optionId, name, kind }) => ({ optionId, name, kind })),
  }
}

/** The questions of a turn, as a checkpoint stores them. */
export interface PermissionQuestions {
  /** How many times the caller was asked in this turn. */
  readonly count: number
  /** The last question. */
  readonly last?: ApprovalQuestion
}

/**
 * Asks for the permissions of one turn. After a restart the log returns earlier answers in order. Each belongs to the
 * question it was given to, so those questions are replayed before any new one is asked.
 */
export interface PermissionPrompter {
  readonly questions: PermissionQuestions
  /** Replays the questions from before a restart; waits for the answer that is still missing. */
  replayAnswers(): Promise<void>
  decide(request: RequestPermissionRequest): Promise<RequestPermissionResponse>
}

interface PermissionPrompterDeps {
  readonly turn: Turn
  readonly policy: AcpEntry['permissions']
  readonly before?: PermissionQuestions
  /** Stores the questions durably. */
  save(questions: PermissionQuestions): Promise<void>
}

export function createPermissionPrompter({
  turn,
  policy,
  before = { count: 0 },
  save,
}: PermissionPrompterDeps): PermissionPrompter {
  let questions = before
  let granted: { readonly title: string; readonly optionId: string } | undefined

  /** Repeats the question until the reply is a valid answer. */
  async function ask(asked: ApprovalQuestion, isRepeated = false): Promise<string> {
    questions = { count: questions.count + 1, last: asked }
    await save(questions)
    const message = await turn.askMessage(approvalMessage(asked, isRepeated))
    return parseOption(message, asked) ?? ask(asked, true)
  }

  return {
    get questions() {
      return questions
    },
    async replayAnswers() {
      const { count, last } = before
      if (last === undefined) return
      for (let index = 1; index <= count; index += 1) {
        const message = await turn.askMessage(approvalMessage(last, index > 1))
        if (index < count) continue
        granted = { title: last.title, optionId: parseOption(message, last) ?? (await ask(last, true)) }
      }
    },
    async decide(request) {
      const asked = questionFromRequest(request)
      if (policy !== 'ask') {
        const optionId = optionOfKind(asked.options, policy)
        return optionId === undefined ? cancelledPermission : selectedPermission(optionId)
      }
      const known = granted
      granted = undefined
      const isKnown = known?.title === asked.title && asked.options.some(({ optionId }) => optionId === known.optionId)
      return selectedPermission(isKnown ? known.optionId : await ask(asked))
    },
  }
}
