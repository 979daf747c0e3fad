/** The commands of `a2a task push-config`. */
import type { Command } from '../../command.ts'
import { callOptions } from './call-options.ts'

const pushConfigCreate: Command = {
  name: 'task push-config create',
  operands: '<task-id>',
  summary: 'Registers a webhook that the agent notifies about a task.',
  options: [
    { name: 'url', takes: '<url>', summary: 'The webhook. Required.' },
    { name: 'id', takes: '<id>', summary: 'The id of the config. Default: the agent creates one.' },
    {
      name: 'token',
      takes: '<token>',
      isSecret: true,
      summary: 'Sent with every notification, so that the receiver recognizes it.',
    },
    { name: 'auth-scheme', takes: '<scheme>', summary: 'The HTTP authentication scheme of the receiver: Bearer.' },
    { name: 'auth-credentials', takes: '<value>', isSecret: true, summary: 'The credential of the receiver.' },
  ],
  globalOptions: callOptions,
  examples: ['a2a task push-config create <id> -a localhost:3000 --url https://example.com/hook --token <token>'],
  operandCount: [1, 1],
  load: () => import('../push-config/push-config-create.ts'),
}

const pushConfigGet: Command = {
  name: 'task push-config get',
  operands: '<task-id> <config-id>',
  summary: 'Shows a push notification config.',
  options: [],
  globalOptions: callOptions,
  examples: ['a2a task push-config get <task-id> <config-id> -a localhost:3000'],
  operandCount: [2, 2],
  load: () => import('../push-config/push-config-get.ts'),
}

const pushConfigList: Command = {
  name: 'task push-config list',
  operands: '<task-id>',
  summary: 'Lists the push notification configs of a task.',
  options: [],
  globalOptions: callOptions,
  examples: ['a2a task push-config list <task-id> -a localhost:3000'],
  operandCount: [1, 1],
  load: () => import('../push-config/push-config-list.ts'),
}

const pushConfigDelete: Command = {
  name: 'task push-config delete',
  operands: '<task-id> <config-id>',
  summary: 'Deletes a push notification config.',
  options: [],
  globalOptions: callOptions,
  examples: ['a2a task push-config delete <task-id> <config-id> -a localhost:3000'],
  operandCount: [2, 2],
  load: () => import('../push-config/push-config-delete.ts'),
}

const pushConfigListen: Command = {
  name: 'task push-config listen',
  operands: '[task-id]',
  summary: 'Receives push notifications and prints them, until the task has ended or needs input.',
  details: ['With a task it registers itself as the webhook of the task, and removes the config at the end.'],
  options: [
    { name: 'port', takes: '<port>', default: '0', summary: 'The port to listen on; 0 takes a free one.' },
    { name: 'host', takes: '<address>', default: '127.0.0.1', summary: 'The address to listen on.' },
    {
      name: 'public-url',
      takes: '<url>',
      summary: 'The URL by which the agent reaches the receiver. Default: its address.',
    },
    {
      name: 'token',
      takes: '<token>',
      isSecret: true,
      summary: 'Only accepts notifications with this token. With a task the default is a random one.',
    },
  ],
  globalOptions: [...callOptions, 'stream'],
  examples: ['a2a task push-config listen <task-id> -a localhost:3000 --public-url https://tunnel.example.com'],
  operandCount: [0, 1],
  load: () => import('../push-config/push-listen.ts'),
}

export const pushConfigCommands: readonly Command[] = [
  pushConfigCreate,
  pushConfigGet,
  pushConfigList,
  pushConfigDelete,
  pushConfigListen,
]
