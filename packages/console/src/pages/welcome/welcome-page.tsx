/** Where one arrives: a guided minute for who is new, and a calm overview for everybody else. */
import { useRef } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { useResource } from '../../api/resource.ts'
import type { Change } from '../../api/feed.ts'
import { remember, remembered } from '../../app/memory.ts'
import { query, setQuery } from '../../app/router.ts'
import { PageHead } from '../../parts/sheet.tsx'
import { Loading, Trouble } from '../../parts/trouble.tsx'
import { useAgents } from '../agents/use-agents.ts'
import { FirstSteps } from './first-steps.tsx'
import { Overview } from './overview.tsx'
import { stepsOf } from './steps.ts'
import './welcome.css'

const recent = 8
const concernsTasks = ({ type }: Change): boolean => type === 'task' || type === 'tasks'

export function WelcomePage() {
  const agents = useAgents()
  const counts = useResource('task counts', (signal) => call('countTasks', { signal }), concernsTasks)
  const tasks = useResource(
    'newest tasks',
    (signal) => call('listTasks', { query: { limit: recent }, signal }),
    concernsTasks,
  )
  const problem = agents.problem.value ?? counts.problem.value ?? tasks.problem.value
  const [known, counted, newest] = [agents.value.value, counts.value.value, tasks.value.value]
  const isReady = known !== undefined && counted !== undefined && newest !== undefined
  const all = Object.values(counted?.states ?? {}).reduce((sum, one) => sum + one, 0)
  const steps = stepsOf({ agents: known ?? [], tasks: all })
  const wish = query.value.get('view') ?? remembered('welcome', ['overview', 'steps'])
  // What was begun stays to be seen, also after the last step.
  const hasBegun = useRef(false)
  const isGuided = isReady && (wish === 'steps' || (wish !== 'overview' && (!steps.isDone || hasBegun.current)))
  if (isGuided) hasBegun.current = true

  function choose(view: 'overview' | 'steps'): void {
    remember('welcome', view)
    setQuery({ view, agent: undefined, text: undefined })
  }

  return (
    <>
      <PageHead title={isGuided ? 'Welcome to Parley' : 'Overview'}>
        {isReady && (
          <button type="button" class="plain" onClick={() => choose(isGuided ? 'overview' : 'steps')}>
            {isGuided ? (steps.isDone ? 'To the overview' : 'Skip the first steps') : 'First steps'}
          </button>
        )}
      </PageHead>
      <div class="scroll welcome">
        {problem !== undefined && (
          <Trouble
            reason={problem}
            retry={() => {
              agents.reload()
              counts.reload()
              tasks.reload()
            }}
          />
        )}
        {isReady ? (
          isGuided ? (
            <FirstSteps agents={known} tasks={newest.tasks} steps={steps} onDone={() => choose('overview')} />
          ) : (
            <Overview agents={known} counts={counted} tasks={newest.tasks} />
          )
        ) : (
          problem === undefined && <Loading what="what is here" />
        )}
      </div>
    </>
  )
}
