/** The task that faulty servers serve: ten chunks of text and an end, and the task after each event. */
import type { Task } from '@parley/a2a'

export const taskId = 'task-1'
export const contextId = 'context-1'

export const statusUpdate = (state: string, over: object = {}): any => ({
  statusUpdate: { taskId, contextId, status: { state: `TASK_STATE_${state}` }, ...over },
})
export const chunk = (text: string, over: object = {}): any => ({
  artifactUpdate: { taskId, contextId, artifact: { artifactId: 'answer', parts: [{ text }] }, append: true, ...over },
})

export function task(state: string, text = '', over: object = {}): Task {
  const artifacts = text === '' ? {} : { artifacts: [{ artifactId: 'answer', parts: [{ text }] }] }
  return {
    id: taskId,
    contextId,
    status: { state: `TASK_STATE_${state}` as 'TASK_STATE_WORKING' },
    ...artifacts,
    ...over,
  }
}

const words = Array.from({ length: 10 }, (_, index) => `word${index + 1} `)

/** The whole text. */
export const wholeText = words.join('')

/** The events in order; the first is the task itself. */
export const events: readonly any[] = [
  { task: task('SUBMITTED') },
  statusUpdate('WORKING'),
  ...words.map((word, index) => chunk(word, index === 0 ? { append: false } : {})),
  statusUpdate('COMPLETED'),
]

/** The task after this many events. */
export function taskAfter(count: number): Task {
  const state = count >= events.length ? 'COMPLETED' : count > 1 ? 'WORKING' : 'SUBMITTED'
  return task(state, words.slice(0, Math.max(0, count - 2)).join(''))
}
