// The elements of each metadata type in the Metadata API that this package uses.

const flags = ['true', 'false']

export const shapes = {
  CustomField: {
    required: ['fullName', 'label', 'type'],
    optional: [
      'caseSensitive',
      'description',
      'externalId',
      'length',
      'precision',
      'required',
      'scale',
      'unique',
      'valueSet',
      'visibleLines',
    ],
    values: {
      type: ['Text', 'LongTextArea', 'Number', 'Email', 'Date', 'DateTime', 'Url', 'Picklist'],
      caseSensitive: flags,
      externalId: flags,
      required: flags,
      unique: flags,
    },
    children: {
      valueSet: {
        required: ['restricted', 'valueSetDefinition'],
        optional: [],
        values: { restricted: flags },
        children: {
          valueSetDefinition: {
            required: ['sorted', 'value'],
            optional: [],
            values: { sorted: flags },
            children: {
              value: { required: ['fullName', 'default', 'label'], optional: [], values: { default: flags } },
            },
          },
        },
      },
    },
  },
  QuickAction: {
    required: ['label', 'lightningWebComponent', 'optionsCreateFeedItem', 'type'],
    optional: ['actionSubtype'],
    values: {
      actionSubtype: ['ScreenAction', 'Action'],
      optionsCreateFeedItem: flags,
      type: ['LightningWebComponent'],
    },
  },
  WebLink: {
    required: ['availability', 'displayType', 'fullName', 'linkType', 'masterLabel', 'openType', 'protected'],
    optional: ['description', 'page', 'requireRowSelection'],
    values: {
      availability: ['online', 'offline'],
      displayType: ['link', 'button', 'massActionButton'],
      linkType: ['page', 'url', 'sControl', 'javascript', 'flow'],
      openType: ['newWindow', 'sidebar', 'noSidebar', 'replace', 'onClickJavaScript'],
      protected: flags,
      requireRowSelection: flags,
    },
  },
  ApexPage: {
    required: ['apiVersion', 'label'],
    optional: ['availableInTouch', 'confirmationTokenRequired', 'description'],
    values: { availableInTouch: flags, confirmationTokenRequired: flags },
  },
  ApexComponent: { required: ['apiVersion', 'label'], optional: ['description'], values: {} },
  ApexClass: { required: ['apiVersion', 'status'], optional: [], values: { status: ['Active'] } },
  LightningComponentBundle: {
    required: ['apiVersion', 'isExposed', 'targets'],
    optional: ['description', 'masterLabel', 'targetConfigs'],
    values: { isExposed: flags },
  },
  ExternalCredential: {
    required: ['authenticationProtocol', 'externalCredentialParameters', 'label'],
    optional: ['description'],
    values: { authenticationProtocol: ['Custom', 'Jwt', 'Basic', 'Oauth', 'AwsSv4'] },
    children: {
      externalCredentialParameters: {
        required: ['parameterName', 'parameterType'],
        optional: ['parameterGroup', 'sequenceNumber', 'parameterValue', 'description'],
        values: { parameterType: ['NamedPrincipal', 'PerUserPrincipal', 'AuthHeader', 'AuthParameter'] },
      },
    },
  },
  NamedCredential: {
    required: ['label', 'namedCredentialParameters', 'namedCredentialType'],
    optional: [
      'allowMergeFieldsInBody',
      'allowMergeFieldsInHeader',
      'calloutStatus',
      'generateAuthorizationHeader',
    ],
    values: {
      allowMergeFieldsInBody: flags,
      allowMergeFieldsInHeader: flags,
      calloutStatus: ['Enabled', 'Disabled'],
      generateAuthorizationHeader: flags,
      namedCredentialType: ['SecuredEndpoint'],
    },
    children: {
      namedCredentialParameters: {
        required: ['parameterName', 'parameterType'],
        optional: ['externalCredential', 'parameterValue', 'description'],
        values: { parameterType: ['Url', 'Authentication', 'HttpHeader'] },
      },
    },
  },
  PermissionSet: {
    required: ['label'],
    optional: [
      'classAccesses',
      'description',
      'externalCredentialPrincipalAccesses',
      'fieldPermissions',
      'hasActivationRequired',
      'objectPermissions',
      'pageAccesses',
      'userPermissions',
    ],
    values: { hasActivationRequired: flags },
    children: {
      classAccesses: { required: ['apexClass', 'enabled'], optional: [], values: { enabled: flags } },
      externalCredentialPrincipalAccesses: {
        required: ['enabled', 'externalCredentialPrincipal'],
        optional: [],
        values: { enabled: flags },
      },
      fieldPermissions: {
        required: ['editable', 'field', 'readable'],
        optional: [],
        values: { editable: flags, readable: flags },
      },
      objectPermissions: {
        required: [
          'allowCreate',
          'allowDelete',
          'allowEdit',
          'allowRead',
          'modifyAllRecords',
          'object',
          'viewAllRecords',
        ],
        optional: [],
        values: {},
      },
      pageAccesses: { required: ['apexPage', 'enabled'], optional: [], values: { enabled: flags } },
      userPermissions: { required: ['enabled', 'name'], optional: [], values: { enabled: flags } },
    },
  },
}
