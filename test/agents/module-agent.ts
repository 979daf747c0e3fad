/** An agent written with the turn alone: no runtime imports. */
import type { Message, Task, Turn } from '@parley/a2a'
import type { ModuleProbe } from './module-probe.ts'

const moduleProbes = (globalThis as Record<symbol, unknown>)[Symbol.for('parley.test.module-bench')]
const moduleProbe = (): ModuleProbe =>
  (moduleProbes as Map<string, ModuleProbe>).get(import.meta.dirname) as ModuleProbe

export const agent = {
  resume: 'rerun',
  async *run(turn: Turn) {
    const { text, signal, lastCheckpoint } = turn
    const [verb, word = ''] = text.split(' ')
    if (lastCheckpoint === 'asked') yield `${text} it is`
    else if (verb === 'chat') yield* ['you ', 'said ', `${word}.`]
    else if (verb === 'long') {
      yield { state: 'TASK_STATE_WORKING', message: 'at it' } as const
      moduleProbe().started.resolve()
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
      moduleProbe().stopped.resolve()
      throw signal.reason
    } else if (verb === 'fail') throw new Error('host-7.internal is down')
    else if (verb === 'remember') yield 'noted'
    else if (verb === 'recall') yield lastRemembered(await turn.context()) ?? 'nothing'
    else if (verb === 'ask') {
      await turn.checkpoint('asked')
      yield { state: 'TASK_STATE_INPUT_REQUIRED', message: 'Which city?' } as const
    } else if (verb === 'slow') {
      yield 'one '
      await turn.checkpoint('begun')
      moduleProbe().started.resolve()
      await moduleProbe().released.promise
      yield 'two three'
    }
  },
}

function lastRemembered(tasks: readonly Task[]): string | undefined {
  const texts = tasks.flatMap(({ history = [] }) => history).map(textOf)
  return texts.findLast((text) => text.startsWith('remember '))?.split(' ')[1]
}

function textOf({ parts }: Message): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('')
}
