/**
 * The permissions of one turn. A question that was asked before a restart is not asked for another purpose after it: the
 * answers that the log gives back belong to the questions they were given to, so those are gone through first.
 */
import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import type { Turn } from '@parley/a2a'
import type { AcpEntry } from './entry.ts'
import type { Asked } from './permission.ts'
import { askedBy, byKind, chosen, optionMeant, questionOf, refused } from './permission.ts'

/** As much as a checkpoint keeps. */
export interface Questions {
  /** How often the caller was asked in this turn. */
  readonly count: number
  /** The last thing they were asked. */
  readonly last?: Asked
}

export interface Asking {
  readonly questions: Questions
  /** Goes through what was asked before a restart; waits for the answer that is still missing. */
  recall(): Promise<void>
  decide(request: RequestPermissionRequest): Promise<RequestPermissionResponse>
}

export interface AskingParts {
  readonly turn: Turn
  readonly policy: AcpEntry['permissions']
  readonly before?: Questions
  /** Makes them durable. */
  keep(questions: Questions): Promise<void>
}

export function createAsking({ turn, policy, before = { count: 0 }, keep }: AskingParts): Asking {
  let questions = before
  let granted: { readonly title: string; readonly optionId: string } | undefined

  /** Until the caller has said something that is an answer. */
  async function ask(asked: Asked, isRepeated = false): Promise<string> {
    questions = { count: questions.count + 1, last: asked }
    await keep(questions)
    const message = await turn.askMessage(questionOf(asked, isRepeated))
    return optionMeant(message, asked) ?? ask(asked, true)
  }

  return {
    get questions() {
      return questions
    },
    async recall() {
      const { count, last } = before
      if (last === undefined) return
      for (let index = 1; index <= count; index += 1) {
        const message = await turn.askMessage(questionOf(last, index > 1))
        if (index < count) continue
        granted = { title: last.title, optionId: optionMeant(message, last) ?? (await ask(last, true)) }
      }
    },
    async decide(request) {
      const asked = askedBy(request)
      if (policy !== 'ask') {
        const optionId = byKind(asked.options, policy)
        return optionId === undefined ? refused : chosen(optionId)
      }
      const known = granted
      granted = undefined
      const isKnown = known?.title === asked.title && asked.options.some(({ optionId }) => optionId === known.optionId)
      return chosen(isKnown ? known.optionId : await ask(asked))
    },
  }
}
