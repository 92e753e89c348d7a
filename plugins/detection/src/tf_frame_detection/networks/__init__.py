"""Networks of the model `detection`: feature maps by backbone, and box predictors."""
