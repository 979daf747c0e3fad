/** First steps for a new hub. The hub opens on the overview once they are done or were skipped. */
import { callAdmin } from '../../api/admin-client.ts'
import { useResource } from '../../api/resource.ts'
import type { Change } from '../../api/change-feed.ts'
import { navigate } from '../../app/router.ts'
import { skipFirstSteps } from '../../app/start-page.ts'
import { PageHead } from '../../components/layout/page-head.tsx'
import { Loading, ErrorNotice } from '../../components/status/error-notice.tsx'
import { useAgentsWithLoad, useTaskCounts } from '../../api/agents.ts'
import { FirstSteps } from './first-steps.tsx'
import { firstStepsStatus } from './first-steps-status.ts'
import './welcome.css'

const recentTaskCount = 8
const concernsTasks = ({ type }: Change): boolean => type === 'task' || type === 'tasks'

export function WelcomePage() {
  const agents = useAgentsWithLoad()
  const counts = useTaskCounts()
  const tasks = useResource(
    'newest-tasks',
    (signal) => callAdmin('listTasks', { query: { limit: recentTaskCount }, signal }),
    concernsTasks,
  )
  const problem = agents.problem.value ?? counts.problem.value ?? tasks.problem.value
  const [known, counted, newest] = [agents.value.value, counts.value.value, tasks.value.value]
  const isReady = known !== undefined && counted !== undefined && newest !== undefined
  const all = Object.values(counted?.states ?? {}).reduce((sum, one) => sum + one, 0)
  const steps = firstStepsStatus({ agents: known ?? [], tasks: all })

  function leave(): void {
    skipFirstSteps()
    navigate('/overview')
  }

  return (
    <>
      <PageHead title="Welcome to Parley">
        <button type="button" onClick={leave}>
          {steps.isDone ? 'Open overview' : 'Skip first steps'}
        </button>
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
          <FirstSteps agents={known} tasks={newest.tasks} steps={steps} onDone={leave} />
        ) : (
          problem === undefined && <Loading what="the agents and tasks" />
        )}
      </div>
    </>
  )
}
