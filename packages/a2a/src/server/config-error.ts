/**
 * An error in the operator's configuration, not in a client's request: the path of the setting, and how to fix it. It has no stack:
 * an uncaught one prints its message.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  /** Such as `agents.echo.name`. */
  readonly path: string

  constructor(path: string, message: string) {
    super(`${path}: ${message}`)
    this.path = path
    this.stack = `${this.name}: ${this.message}`
  }
}
