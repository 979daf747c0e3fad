/**
 * Loaded before a program under test: it gets a free port instead of the requested one, and prints it. So the programs
 * of the README and of examples/ run as written, without port conflicts on this machine.
 */
import net from 'node:net'

const listen = net.Server.prototype.listen
net.Server.prototype.listen = function (this: net.Server, ...args: unknown[]): net.Server {
  this.once('listening', () => {
    const address = this.address()
    if (typeof address === 'object' && address !== null) process.send?.({ port: address.port })
  })
  const [first, ...rest] = args
  const freed = typeof first === 'object' && first !== null ? [{ ...first, port: 0 }, ...rest] : [0, ...rest]
  return Reflect.apply(listen, this, freed) as net.Server
} as typeof listen
