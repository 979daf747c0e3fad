/** An error in the operator's configuration, not in a client's request: the path of the setting, and how to fix it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  /** Such as `agents.echo.name`. */
  readonly path: string

  constructor(path: string, message: string) {
    super(`${path}: ${message}`)
    this.path = path
  }
}
