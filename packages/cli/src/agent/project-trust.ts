/**
 * The `.env` of a project, such as a repository that the user has cloned, may name the agent. A credential from a stronger source (a
 * flag, the environment, the user's own file) then goes to an address that the user has not chosen, and needs `--trust-project`.
 */
import { spelled } from '../args/resolve-settings.ts'
import type { Settings } from '../args/settings.ts'
import { usageError } from '../output/cli-error.ts'

/** Throws a usage error if the setting is set and must not be sent to the agent. */
export type CheckProjectTrust = (name: string) => void

/** `options` have chosen the address of the agent. */
export function createProjectTrust(
  settings: Settings,
  options: readonly ('agent-card' | 'endpoint' | 'catalog')[],
  reference: string,
): CheckProjectTrust {
  const { projectFile } = settings
  const isOfProject = (name: string): boolean => {
    const source = settings.sourceOf(name)
    return source.kind === 'file' && source.path === projectFile
  }
  if (!options.some(isOfProject) || settings.has('trust-project')) return () => {}
  return (name) => {
    if (settings.value(name) === undefined || isOfProject(name)) return
    throw usageError(
      `${spelled({ name, values: [], source: settings.sourceOf(name) })} is not sent to ${reference}: ${projectFile} chose this address.`,
      'If you trust that file, add --trust-project. Or name the agent yourself with --agent-card.',
    )
  }
}
