/** What the credentials of a run are made of. */
import type { Fetch } from '@parley/a2a/client'
import type { CheckProjectTrust } from '../agent/project-trust.ts'
import type { Settings } from '../args/settings.ts'
import type { Output } from '../output/output.ts'
import type { Terminal } from '../terminal.ts'

export interface CredentialsDeps {
  readonly settings: Settings
  readonly output: Output
  readonly terminal: Pick<Terminal, 'environment' | 'home' | 'program'>
  readonly fetch: Fetch
  /** The URL of the card; `undefined` if it is a file. */
  readonly cardUrl: string | undefined
  /** False for `--endpoint`: what the user names directly needs no declaration. */
  readonly hasCard: boolean
  /** The arguments that name the agent, for commands in hints: `-a https://…`. */
  readonly agentArgs: string
  /** Call it before a credential of an option is sent. */
  readonly checkProjectTrust: CheckProjectTrust
}
