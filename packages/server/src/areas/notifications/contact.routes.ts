import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { deleteContactDetails, getContact, updateContactDetails } from './preferences.actions.ts'
import { ContactChanges, ContactDetails } from './preferences.schema.ts'
import { NO_FEATURE } from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'required',
  rate: 'standard',
  feature: NO_FEATURE,
}
const tags = ['contact_details']

export const contactRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/notifications/v1/contact-details',
      {
        config: access,
        schema: {
          operationId: 'getContactDetails',
          tags,
          summary: "Get a user's email address and phone number",
          response: { 200: Data(ContactDetails) },
        },
      },
      async ({ actor }) => ({ data: await getContact(actor) }),
    )

    app.patch(
      '/notifications/v1/contact-details',
      {
        // Only the app knows whether an address was verified: users must not have others notified.
        config: { ...access, users: false },
        schema: {
          operationId: 'updateContactDetails',
          tags,
          summary: "Store a user's email address and phone number",
          description: 'Check that they belong to the user first.',
          body: ContactChanges,
          response: { 200: Data(ContactDetails) },
        },
      },
      async ({ actor, body }) => ({
        data: await updateContactDetails(deps, actor, body),
      }),
    )

    app.delete(
      '/notifications/v1/contact-details',
      {
        config: access,
        schema: {
          operationId: 'deleteContactDetails',
          tags,
          summary: "Delete a user's email address and phone number",
          response: { 200: Acknowledged },
        },
      },
      async ({ actor }) => ({ data: await deleteContactDetails(deps, actor) }),
    )
  }
