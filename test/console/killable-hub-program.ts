/** The program of a hub that tests kill: a folder with a configuration, and the folder of the console. */
import { join } from 'node:path'
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { fileSource } from '../../packages/hub/src/config/config-source.ts'
import { startHub } from '../../packages/hub/src/hub.ts'

const [folder = '', files = ''] = process.argv.slice(2)
const source = fileSource({
  file: join(folder, 'parley.yaml'),
  fallback: {},
  environment: {},
  cwd: folder,
  kinds: agentKinds,
})
const loaded = await source.load(source.read())
if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
const note = (): void => {}
await startHub(loaded.config, {
  log: { debug: note, info: note, warn: note, error: note },
  source,
  consoleFolder: new URL(files),
  programEnv: {},
})
console.log('listening')
