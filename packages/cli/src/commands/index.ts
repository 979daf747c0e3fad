/** All commands, in the order of the help. Their modules load when they run. */
import type { Command } from '../command.ts'
import { authLogin, authLogout, authStatus } from './specs/auth.ts'
import { cardGet, send } from './specs/calls.ts'
import { chat } from './specs/chat.ts'
import { conformance } from './specs/conformance.ts'
import { completion, configShow, help } from './specs/local.ts'
import {
  pushConfigCreate,
  pushConfigDelete,
  pushConfigGet,
  pushConfigList,
  pushConfigListen,
} from './specs/push-config.ts'
import { server } from './specs/server.ts'
import { skillInstall, skillShow } from './specs/skill.ts'
import { taskCancel, taskDownload, taskGet, taskList, taskSubscribe } from './specs/tasks.ts'

export const commands: readonly Command[] = [
  cardGet,
  send,
  chat,
  taskGet,
  taskList,
  taskSubscribe,
  taskCancel,
  taskDownload,
  pushConfigCreate,
  pushConfigGet,
  pushConfigList,
  pushConfigDelete,
  pushConfigListen,
  authLogin,
  authStatus,
  authLogout,
  conformance,
  server,
  skillInstall,
  skillShow,
  configShow,
  completion,
  help,
]
