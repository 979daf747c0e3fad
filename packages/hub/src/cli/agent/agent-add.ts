/** `parley agent add`: detects the agent behind a URL or a command, and writes it into the configuration. */
import type { Detect } from '../../agents/detect/detect.ts'
import type { Command } from '../command.ts'
import { configEditDetails, configEditFlags } from './agent-commands.ts'

/** Loaded on demand: each detection has libraries of its own. */
const defaultDetect: Detect = async (target, parts) =>
  (await import('../../agents/detect/index.ts')).detect(target, parts)

export const agentAdd: Command = createAgentAdd(defaultDetect)

export function createAgentAdd(detect: Detect): Command {
  return {
    name: 'agent add',
    takes: '<url | host:port | command… | -- command with flags…>',
    summary: 'Detects an agent and adds it to the configuration.',
    details: [
      'A running hub uses it at once. Exits with 1 if it is not written, or if the hub cannot use it.',
      'Flags may be anywhere. Put a command with its own flags after --: parley agent add -- npx -y my-agent',
      '--name <name>           Default: the name that the agent reports.',
      '--kind <kind>           Skips detection: the target is the URL, host:port or command of this kind.',
      '--token-env <NAME>      The environment variable of its token. The file stores the name, not the token. If the running hub does not have the variable, it keeps the token as a secret.',
      ...configEditDetails,
    ],
    flags: {
      ...configEditFlags,
      name: { type: 'string' },
      kind: { type: 'string' },
      'token-env': { type: 'string' },
    },
    acceptsCommand: true,
    run: async (flags, terminal) => (await import('./run-agent-add.ts')).runAgentAdd(detect, flags, terminal),
  }
}
