/** One agent behind several interfaces: what one creates, the others show. */
import { fail, notApplicable, pass, type Check } from '../check.ts'
import type { Subject, TaskAnswer } from '../subject.ts'
import { allBindings, allVersions } from './scope.ts'

export const equivalenceChecks: readonly Check[] = [
  {
    versions: allVersions,
    bindings: allBindings,
    sends: true,
    id: 'equivalence.bindings',
    rules: ['B-168'],
    level: { '1.0': 'must', '0.3': 'must', '0.2': 'info' },
    section: { '1.0': 'A2A 1.0 §5.1', '0.3': 'A2A 0.3 §3.4.1', '0.2': 'A2A 0.2 has one binding' },
    title: 'A task of one binding is the same over the others',
    run: (subject) => compare(subject, subject.firstInterface(subject.version)),
  },
  {
    versions: allVersions,
    bindings: allBindings,
    sends: true,
    id: 'equivalence.versions',
    rules: ['B-13'],
    level: 'info',
    section: {
      '1.0': 'A2A 1.0 §3.6.2 does not say it',
      '0.3': 'A2A 1.0 §3.6.2 does not say it',
      '0.2': 'A2A 1.0 §3.6.2 does not say it',
    },
    title: 'A task of one version is the same in the others',
    run: (subject) => compare(subject, subject.firstInterface()),
  },
]

async function compare(subject: Subject, first: Subject): ReturnType<Check['run']> {
  if (first === subject) return notApplicable('this is the first interface; the others are compared with it')
  const from = `${first.version} ${first.binding}`
  const { task } = await first.finishedTask()
  const got = await subject.getTask(task.id)
  if (got.task.state !== task.state) return fail(`the state is ${got.task.state}, and ${task.state} over ${from}`, got)
  if (got.task.contextId !== task.contextId)
    return fail(`the contextId is ${got.task.contextId}, and ${task.contextId} over ${from}`, got)
  const texts = (of: TaskAnswer['task']): string =>
    JSON.stringify(of.artifacts.map(({ artifactId, text }) => [artifactId, text]))
  return texts(got.task) === texts(task) ? pass() : fail(`the artifacts differ from those over ${from}`, got)
}
