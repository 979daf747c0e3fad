/** The start page: first steps for a new hub, and an overview afterwards. */
import { useRef } from 'preact/hooks'
import { callAdmin } from '../../api/admin-client.ts'
import { useResource } from '../../api/resource.ts'
import type { Change } from '../../api/change-feed.ts'
import { savePreference, readPreference } from '../../app/preferences.ts'
import { query, setQuery } from '../../app/router.ts'
import { PageHead } from '../../components/layout/page-head.tsx'
import { Loading, ErrorNotice } from '../../components/status/error-notice.tsx'
import { useAgentsWithLoad } from '../../api/agents.ts'
import { FirstSteps } from './first-steps.tsx'
import { HubOverview } from './overview.tsx'
import { firstStepsStatus } from './first-steps-status.ts'
import './welcome.css'

const recentTaskCount = 8
const concernsTasks = ({ type }: Change): boolean => type === 'task' || type === 'tasks'

export function WelcomePage() {
  const agents = useAgentsWithLoad()
  const counts = useResource('task counts', (signal) => callAdmin('countTasks', { signal }), concernsTasks)
  const tasks = useResource(
    'newest tasks',
    (signal) => callAdmin('listTasks', { query: { limit: recentTaskCount }, signal }),
    concernsTasks,
  )
  const problem = agents.problem.value ?? counts.problem.value ?? tasks.problem.value
  const [known, counted, newest] = [agents.value.value, counts.value.value, tasks.value.value]
  const isReady = known !== undefined && counted !== undefined && newest !== undefined
  const all = Object.values(counted?.states ?? {}).reduce((sum, one) => sum + one, 0)
  const steps = firstStepsStatus({ agents: known ?? [], tasks: all })
  const wish = query.value.get('view') ?? readPreference('welcome', ['overview', 'steps'])
  // Steps that were started stay visible after the last one.
  const hasBegun = useRef(false)
  const isGuided = isReady && (wish === 'steps' || (wish !== 'overview' && (!steps.isDone || hasBegun.current)))
  if (isGuided) hasBegun.current = true

  function choose(view: 'overview' | 'steps'): void {
    savePreference('welcome', view)
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
          <ErrorNotice
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
            <HubOverview agents={known} counts={counted} tasks={newest.tasks} />
          )
        ) : (
          problem === undefined && <Loading what="what is here" />
        )}
      </div>
    </>
  )
}
