import { Operations } from './operations.gen.ts'
import { type LoquatOptions, Transport } from './transport.ts'

/** All operations of one app, by area: `client.users.create({ … })`. */
export class Loquat extends Operations {
  readonly #options: LoquatOptions

  constructor(options: LoquatOptions) {
    super(new Transport(options))
    this.#options = options
  }

  /** The same client in the name of a user. */
  onBehalfOf(uid: string): Loquat {
    return new Loquat({ ...this.#options, onBehalfOf: uid })
  }
}
