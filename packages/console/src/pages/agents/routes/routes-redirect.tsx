/** `/routes`, where the rules of all agents were: opens those of the agent that the address names, or of the first with rules. */
import { useEffect } from 'preact/hooks'
import { callAdmin } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { navigate, query } from '../../../app/router.ts'
import { LoadState } from '../../../components/status/error-notice.tsx'
import { dryRunFromQuery, dryRunHref } from './dry-run.ts'
import { sortRoutes } from './rule-text.ts'

export function RoutesRedirect() {
  const routes = useResource('routes', (signal) => callAdmin('listRoutes', { signal }))
  const loaded = routes.value.value
  useEffect(() => {
    if (loaded === undefined) return
    const agent = query.peek().get('agent') ?? sortRoutes(loaded.routes)[0]?.from[0]
    const text = query.peek().get('text')
    const asked = new URLSearchParams([...query.peek(), ...(text === null ? [] : [['message', text]])])
    const run = agent === undefined ? undefined : dryRunFromQuery(agent, asked)
    navigate(agent === undefined ? '/agents' : dryRunHref(run ?? agent), { replace: true })
  }, [loaded])
  return <LoadState of={routes} what="the routes" />
}
