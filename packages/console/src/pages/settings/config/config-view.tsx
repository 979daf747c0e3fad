/** The configuration file: written, compared, applied, and gone back to. */
import { useEffect } from 'preact/hooks'
import { call } from '../../../api/call.ts'
import { isProblem } from '../../../api/problem.ts'
import { useResource } from '../../../api/resource.ts'
import { place } from '../../../app/router.ts'
import { Code } from '../../../parts/code.tsx'
import { Empty, Loading, Trouble } from '../../../parts/trouble.tsx'
import { base, take } from './draft.ts'
import type { ConfigText } from './draft.ts'
import { EditView } from './edit-view.tsx'
import { ReviewView } from './review-view.tsx'
import { VersionsView } from './versions-view.tsx'
import './config.css'

async function load(signal: AbortSignal): Promise<ConfigText | 'no file'> {
  try {
    return await call('getConfig', { signal })
  } catch (reason) {
    if (isProblem(reason, 'UNAVAILABLE')) return 'no file'
    throw reason
  }
}

export function ConfigView() {
  const config = useResource('config', load, ({ type }) => type === 'config')
  const found = config.value.value
  useEffect(() => {
    if (typeof found === 'object') take(found)
  }, [found])
  const [, view, id] = place.value.rest

  if (found === 'no file') return <NoFile />
  if (config.problem.value !== undefined && base.value === undefined) {
    return <Trouble reason={config.problem.value} retry={config.reload} />
  }
  if (base.value === undefined) return <Loading what="the configuration" />
  if (view === undefined) return <EditView config={config} />
  if (view === 'review') return <ReviewView config={config} />
  if (view === 'versions') return <VersionsView config={config} id={id} />
  return (
    <Empty title="There is no such view">
      <a href="/settings/config">Edit the configuration</a>
    </Empty>
  )
}

function NoFile() {
  return (
    <Empty title="This hub has no configuration file">
      <p>
        A program started it and alone can change what it is told. Everything else works: agents, tasks, keys, webhooks.
        To edit the configuration here, start the hub from a file:
      </p>
      <Code text="parley up --config parley.yaml" label="the command" />
    </Empty>
  )
}
